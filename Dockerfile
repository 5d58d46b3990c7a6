# Outlast as a service: needs a Postgres of its own (DATABASE_URL); the embedded one stays out of the image.
FROM node:24-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# No scripts: `prepare` would build before the sources are here.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
RUN npm run --silent build

FROM node:24-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
# Optional are the embedded Postgres' programs, 60 MB, and DuckDB for Parquet, 70 MB.
RUN npm ci --omit=dev --omit=optional --ignore-scripts && npm cache clean --force

FROM node:24-bookworm-slim
ENV NODE_ENV=production
# Reachable from other containers; compose publishes the port on the host's loopback only.
ENV OUTLAST_HOST=0.0.0.0
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /build/dist/src dist/src
COPY package.json CHANGELOG.md LICENSE ./
COPY migrations migrations
# The pages lead to them.
COPY docs/*.md docs/
# Copies of the certificates: a volume mounted here takes over whose folder it is.
RUN mkdir /certificates && chown 1000:1000 /certificates
ENV OUTLAST_CERTIFICATES_DIR=/certificates
# By number, so that Kubernetes can check that it is not root. It owns and writes nothing else here.
USER 1000:1000
EXPOSE 8080
# Says that settings and database are in order.
HEALTHCHECK --interval=60s --timeout=20s --start-period=60s --retries=3 \
  CMD ["node", "dist/src/main.js", "status", "--json"]
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "dist/src/main.js"]
CMD ["start"]
