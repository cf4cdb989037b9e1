# One image with the three services; docker-compose.yml says which one a container runs.
FROM node:20-bookworm-slim AS build
# better-sqlite3 is compiled.
RUN apt-get update \
  && apt-get install -y --no-install-recommends python3 make g++ \
  && rm -rf /var/lib/apt/lists/*
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY . .
RUN NX_DAEMON=false npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production FLOWLY_HOME=/data
RUN install -d -o node -g node -m 0700 /data
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
USER node
VOLUME /data
EXPOSE 18790
CMD ["node", "--enable-source-maps", "dist/apps/gateway/main.js"]
