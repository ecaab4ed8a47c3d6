update {{table}} set v = v, id = id
