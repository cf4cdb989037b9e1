import path from 'node:path';
import { openBotStore } from '@flowly/store';

/** A conversation that has been going on for long. */
export interface FilledChat {
  bot: string;
  botId: string;
  sessionKey: string;
  messages: number;
}

const BUSY_MS = 10_000;
const FIRST_AT = Date.UTC(2026, 0, 1);
const LENGTH = 200;

/**
 * Writes a conversation straight into the database of a named bot whose services do not run: what the product would have
 * written, in bulk. The ids of its messages are 1 to `messages` if the bot was new.
 */
export async function fillChat(home: string, chat: FilledChat): Promise<void> {
  const { bot, botId, sessionKey, messages } = chat;
  const folder = path.join(home, 'profiles', bot);
  const database = await openBotStore({ folder, botId, busyMs: BUSY_MS });
  try {
    await database.write(() => {
      const lastAt = FIRST_AT + messages * 1_000;
      database.run(
        'INSERT INTO sessions(key, created_at, updated_at) VALUES (?, ?, ?)',
        sessionKey,
        FIRST_AT,
        lastAt,
      );
      let bytes = 0;
      for (let number = 0; number < messages; number++) {
        const isQuestion = number % 2 === 0;
        const text = `Message ${number} `.padEnd(LENGTH, '.');
        const payload = JSON.stringify(
          isQuestion ? { text } : { text, model: 'm', durationMs: 900 },
        );
        database.run(
          'INSERT INTO messages(session_key, run_id, role, payload, created_at) VALUES (?, ?, ?, ?, ?)',
          sessionKey,
          `run-${number >> 1}`,
          isQuestion ? 'user' : 'assistant',
          payload,
          FIRST_AT + number * 1_000,
        );
        bytes += Buffer.byteLength(payload);
      }
      database.run('UPDATE sessions SET size_bytes = ? WHERE key = ?', bytes, sessionKey);
    });
  } finally {
    database.close();
  }
}
