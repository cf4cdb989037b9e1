// The bots and the group of the demo: made when they are missing.
/**
 * @typedef {import('./gateway.mjs').Gateway} Gateway
 * @typedef {import('./screen.mjs').Screen} Screen
 */

/** Names with their labels. */
export const BOTS = { ada: 'Ada', bob: 'Bob' };

const TITLE = 'Demo';

/** @type {Record<string, string>} */
const SOULS = {
  ada: 'You are Ada. You look for what works and name the first step. Answer in a few sentences.',
  bob: 'You are Bob. You look for what could go wrong and how to avoid it. Answer in a few sentences.',
};

/**
 * Makes the bots that are missing and gives both the model asked for.
 * @param {Gateway} gateway
 * @param {import('./options.mjs').Brain} brain
 * @param {Screen} screen
 */
export async function setBots(gateway, { provider, model, apiBase, apiKey }, screen) {
  const { profiles } = await gateway.call('profiles.list');
  for (const [name, displayName] of Object.entries(BOTS)) {
    if (!profiles.some((bot) => bot.name === name)) {
      const soul = SOULS[name];
      await gateway.call('profiles.create', { name, displayName, soul, cloneFrom: null });
      screen.write(`Made the bot ${displayName}.`);
    }
    const credential = { provider, apiBase, apiKey };
    await gateway.call('profiles.configure', {
      name,
      provider,
      model,
      ...((apiBase || apiKey) && { credential }),
    });
  }
  screen.write(`Both use ${model ? `${model} of ` : ''}the provider ${provider}.`);
}

/**
 * The demo's group as it is before the question.
 * @param {Gateway} gateway
 * @param {Screen} screen
 * @returns {Promise<import('@flowly/contract').GroupView>}
 */
export async function demoGroup(gateway, screen) {
  const names = Object.keys(BOTS);
  // From here on the socket gets the events of groups, without their messages.
  const quietly = { eventMode: 'delta-v1', includeMessages: false };
  const { rooms } = await gateway.call('profiles.rooms.list', quietly);
  const found = rooms.find(({ title, members }) => title === TITLE && isSame(members, names));
  if (found) return found;
  const { room } = await gateway.call('profiles.rooms.create', {
    ...quietly,
    title: TITLE,
    members: names,
  });
  screen.write(`Made the group "${TITLE}".`);
  return room;
}

/**
 * @param {string[]} members
 * @param {string[]} names
 */
function isSame(members, names) {
  return members.length === names.length && names.every((name) => members.includes(name));
}
