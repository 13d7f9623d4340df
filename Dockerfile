# kvbudget in an image of its own, for pipelines that have no compiler at hand:
#
#   docker build -t kvbudget .
#   docker run --rm -v "$PWD:/repo:ro" kvbudget lint deploy/
FROM debian:12-slim AS build
WORKDIR /src
COPY . .
# The script installs what the build needs and says so.
RUN ./dev build && strip build/release/kvbudget

FROM debian:12-slim
# git is for `kvbudget diff`, curl's library and the certificates are for --hub.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates git libcurl4 \
    && rm -rf /var/lib/apt/lists/* \
    # A mounted checkout belongs to somebody else, which git refuses by default.
    && git config --system --add safe.directory '*'
COPY --from=build /src/build/release/kvbudget /usr/local/bin/kvbudget
USER 10001:10001
WORKDIR /repo
ENTRYPOINT ["kvbudget"]
CMD ["lint"]
