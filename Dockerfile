# One image for every function and for self-hosting: they differ by their command.
# It has no ENTRYPOINT, so that a Lambda function's ImageConfig.Command alone says
# which binary starts. Neither builder of Docker is taken for granted.

FROM golang:1.26-trixie AS build
# Where modules come from, if not from Go's default: see 'go env'.
ARG GOPROXY
ARG GOSUMDB
ARG GOFLAGS
WORKDIR /src
COPY . .
# Every main of functions/, and the command line: /app/NAME each. Only the modules
# that they need are fetched; 'go mod download' would bring the tools' too.
RUN mkdir /app && CGO_ENABLED=0 go build -tags lambda.norpc -trimpath -ldflags '-s -w' -o /app/ \
      $(ls -d functions/*/ cmd/cloche/ | sed 's,^,./,')

FROM debian:trixie-slim AS python
# No program may lift its caller's rights. Compiled files are never checked against
# their source: nobody can write them, and modification times may not survive the
# image's way to Lambda.
RUN apt-get update \
 && apt-get install -y --no-install-recommends python3 ca-certificates tzdata \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/dpkg.log \
 && find / -xdev -type f -perm /6000 -exec chmod a-s {} + \
 && find /usr/lib/python3* -name __pycache__ -prune -exec rm -r {} + \
 && python3 -m compileall -q -f --invalidation-mode unchecked-hash /usr/lib/python3*

FROM python AS packages
# Python packages that snippets may import, as pip takes them: "numpy==2.3.4 pandas".
ARG PYTHON_PACKAGES=""
ARG PIP_INDEX_URL
RUN mkdir -p /usr/local/lib \
 && if [ -n "$PYTHON_PACKAGES" ]; then \
      apt-get update && apt-get install -y --no-install-recommends python3-pip \
      && python3 -m pip install --break-system-packages --no-cache-dir --no-compile $PYTHON_PACKAGES \
      && python3 -m compileall -q --invalidation-mode unchecked-hash /usr/local/lib/python3*; \
    fi

# What runs on Lambda (template.yaml names this stage). Lambda has an unprivileged user
# of its own and ignores USER; the local emulator adds a layer to it as root.
FROM python AS function
COPY --from=packages /usr/local/lib/ /usr/local/lib/
COPY --from=build /app/ /app/

# The same for every other host: an unprivileged user and a folder for the records.
FROM function
RUN install -d -o 10001 -g 10001 -m 0700 /data
USER 10001:10001
WORKDIR /tmp
ENV CLOCHE_DATA=/data
CMD ["/app/cloche", "serve"]
