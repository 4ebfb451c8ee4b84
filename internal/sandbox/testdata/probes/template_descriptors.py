# Finds the template's objects in its frames, and uses their descriptor: the
# control channel.
# kind: channel
# holds: all, landlock1, landlock2, mounts, nolandlock, noseccomp, neither
# unconfined: held (there is no template)

with attempt("a descriptor of the template", errno.EBADF):
    frame, template = sys._getframe(), None
    while frame is not None and template is None:
        owner = frame.f_locals.get("self")
        template = owner if hasattr(owner, "_control") else None
        frame = frame.f_back
    if template is None:
        raise Refused("there is no template")
    if template._control.fileno() != 3:  # where the job channel lies now
        os.fstat(template._control.fileno())
    else:
        raise Refused("its number means the job channel now")
