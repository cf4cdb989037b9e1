/** Every place at which a test can end a process, in the order in which a message of a group passes them. */
export const faultPoints = [
  'service-starts',
  // the command
  'send-taken',
  'files-written',
  'before-begin',
  'message-stored',
  'group-stored',
  'outcome-stored',
  'jobs-stored',
  'before-commit',
  'committed',
  // what follows from a commit
  'relay-begins',
  'jobs-out',
  'event-out',
  'reply-out',
  'all-out',
  'rows-removed',
  // what the bots tell
  'acceptance-taken',
  'acceptance-committed',
  'end-taken',
  'member-ended',
  'turn-given',
  'run-ended',
  'run-forgotten',
  'end-committed',
  // and whoever takes it up
  'step-given-again',
  'job-done',
] as const;

/** Where a process can end while it makes a bot, stops or deletes one. */
export const botPoints = [
  'bot-begun',
  'bot-built',
  'bot-published',
  'bot-hidden',
  'bot-trashed',
  'trash-emptied',
  'stop-taken',
  'group-stopped',
  'groups-stopped',
  'leaving-taken',
  'group-left',
  'groups-left',
] as const;

export type FaultPoint = (typeof faultPoints)[number] | (typeof botPoints)[number];
