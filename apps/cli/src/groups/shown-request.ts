import { z } from 'zod';

/**
 * What of a bot's request a group shows: less than the bot's own clients are told of it (groups.md §2). Whether a
 * program may always run is not among it, so that is not offered.
 */
const consentSchema = z
  .object({ command: z.string() })
  .transform(({ command }) => ({ command, supportsAlways: false, riskReasons: [] }));

const questionSchema = z.object({
  question: z.string(),
  choices: z.array(z.string()).nullable().default(null),
});

/** The command that a member asks to run. */
export function shownConsent(request: unknown): z.output<typeof consentSchema> {
  return consentSchema.parse(request);
}

/** What a member wants to know. */
export function shownQuestion(request: unknown): z.output<typeof questionSchema> {
  return questionSchema.parse(request);
}
