import { Complaint } from '../lib/command.mjs';
import { Refusal } from './gateway.mjs';
import { BOTS } from './cast.mjs';

/**
 * @typedef {import('@flowly/contract').GroupView} GroupView
 * @typedef {import('./gateway.mjs').GroupEvent} GroupEvent
 * @typedef {import('./screen.mjs').Screen} Screen
 */

/** @type {Record<string, string>} */
const labels = BOTS;

/**
 * Posts the question and shows the answers as they come.
 * @param {import('./gateway.mjs').Gateway} gateway
 * @param {string} groupId
 * @param {string} question
 * @param {Screen} screen
 * @returns {Promise<GroupView>} the group when everybody has ended
 */
export async function ask(gateway, groupId, question, screen) {
  /** @type {Promise<GroupView>} */
  const over = new Promise((resolve) => {
    gateway.onGroupEvent = (event) => {
      if (event.roomId !== groupId) return;
      show(event, screen);
      if (event.type === 'run-state' && event.room?.running === false) resolve(event.room);
    };
  });
  const running = await send(gateway, groupId, question);
  if (!running) throw new Complaint('Nobody in the group answers this.');
  return Promise.race([over, gateway.gone]);
}

/**
 * @param {import('./gateway.mjs').Gateway} gateway
 * @param {string} roomId
 * @param {string} content
 * @returns {Promise<boolean>} whether somebody answers
 */
async function send(gateway, roomId, content) {
  try {
    const params = { roomId, content, includeMessages: false };
    const { room } = await gateway.call('profiles.rooms.send', params);
    return room.running;
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'ROOM_BUSY') throw error;
    throw new Complaint('The group still answers an earlier question. Try again in a moment.');
  }
}

/**
 * @param {GroupEvent} event
 * @param {Screen} screen
 */
function show({ type, patch, room, appended = [], profile = '', error }, screen) {
  const { streams } = patch ?? room ?? { streams: {} };
  for (const [member, text] of Object.entries(streams)) screen.stream(labelOf(member), text);
  for (const { role, profile: author = '', content, aborted } of appended)
    if (role === 'assistant') screen.finish(labelOf(author), content, aborted && '(stopped)');
  if (type === 'error') screen.finish(labelOf(profile), '', `(no answer: ${error})`);
}

/** @param {string} member */
function labelOf(member) {
  return labels[member] ?? member;
}
