// The little of Redis's protocol that a start needs: log in and PING.
import net from 'node:net';
import tls from 'node:tls';

/**
 * Asks a Redis whether it answers.
 * @param {string} url redis:// or rediss://, with its password
 * @param {number} [timeoutMs]
 * @returns {Promise<string>} 'PONG', or what it said or what went wrong instead; never the password
 */
export async function ping(url, timeoutMs = 2000) {
  const { protocol, hostname, port, username, password } = new URL(url);
  const address = { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 6379) };
  const auth = password ? [['AUTH', ...(username ? [username] : []), password]] : [];
  const commands = [...auth.map((words) => words.map(decodeURIComponent)), ['PING']];
  const socket = protocol === 'rediss:' ? tls.connect(address) : net.connect(address);
  return new Promise((resolve) => {
    let answer = '';
    /** @param {string} outcome */
    const finish = (outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(timeoutMs, () => finish('no answer'));
    socket.on('error', (error) => finish(error.message || 'no connection'));
    socket.on('close', () => finish('connection closed'));
    socket.on('data', (chunk) => {
      answer += chunk;
      const lines = answer.split('\r\n').slice(0, -1);
      const refusal = lines.find((line) => line.startsWith('-'));
      if (refusal) finish(refusal.slice(1));
      else if (lines.length >= commands.length) finish(lines.at(-1)?.slice(1) ?? '');
    });
    socket.write(commands.map(encode).join(''));
  });
}

/** @param {string[]} words */
function encode(words) {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join('')}`;
}
