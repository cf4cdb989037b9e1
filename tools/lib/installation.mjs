// One running installation: Redis, the three services, and their end in the right order.
import path from 'node:path';
import { Complaint } from './command.mjs';
import { APPS } from './paths.mjs';
import { checkRedis, privateRedis, startPrivateRedis } from './redis.mjs';
import { Service } from './service.mjs';

const SERVICES_PATIENCE_MS = 9000;
const REDIS_PATIENCE_MS = 700; // what is left of the ten seconds; it needs a few milliseconds

export class Installation {
  /** @type {Service | undefined} */
  #redis;
  /** @type {Service[]} */
  #services = [];

  /**
   * @param {object} setting
   * @param {string} setting.home data folder
   * @param {string} setting.dist folder that holds <app>/main.js
   * @param {NodeJS.ProcessEnv} setting.env of the caller
   * @param {(line: string) => void} setting.say
   * @param {(complaint: Complaint) => void} setting.giveUp a child cannot be brought up
   */
  constructor({ home, dist, env, say, giveUp }) {
    this.home = home;
    this.dist = dist;
    /** @type {NodeJS.ProcessEnv} */
    this.env = { ...env, FLOWLY_HOME: home };
    /** @type {import('./service.mjs').Watcher} */
    this.watcher = { say, giveUp: (service) => giveUp(cannotStart(service)) };
  }

  /**
   * The Redis of REDIS_URL when it is set, else our own.
   * @param {AbortSignal} signal
   */
  async startRedis(signal) {
    if (this.env.REDIS_URL) {
      await checkRedis(this.env.REDIS_URL);
      return;
    }
    const { url, spec } = await privateRedis(this.home);
    this.#redis = new Service(spec, this.home, this.watcher);
    await startPrivateRedis(this.#redis, url, signal);
    this.env.REDIS_URL = url;
  }

  startServices() {
    this.#services = APPS.map((name) => {
      const args = [path.join(this.dist, name, 'main.js')];
      const spec = { name, command: process.execPath, args, env: this.env };
      return new Service(spec, this.home, this.watcher);
    });
    for (const service of this.#services) service.start();
  }

  /** Everything is up: from now on what ends by itself is started again. */
  settle() {
    this.#redis?.settle();
    for (const service of this.#services) service.settle();
  }

  /** Ends the services, then Redis; within ten seconds whatever they do. */
  async stop() {
    await Promise.all(this.#services.map((service) => service.stop(SERVICES_PATIENCE_MS)));
    await this.#redis?.stop(REDIS_PATIENCE_MS);
  }
}

/** @param {Service} service */
function cannotStart({ spec, logFile, lastLines }) {
  return new Complaint(
    `${spec.name} does not start. Last lines of ${logFile}:\n${lastLines.join('\n')}`,
  );
}
