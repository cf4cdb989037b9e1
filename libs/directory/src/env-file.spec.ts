import { modelKeyLines, parseModelKeys, withoutKeys } from './env-file';

const TEXT = `# keys
export OPENAI_API_KEY="sk-1 # not a comment"
GROQ_API_KEY=g-1 # a comment
XAI_API_KEY=
TELEGRAM_TOKEN=canary
  VLLM_API_KEY='v'
openai_api_key=other`;

it('knows the model keys and nothing else', () => {
  expect(Object.fromEntries(parseModelKeys(TEXT))).toEqual({
    OPENAI_API_KEY: 'sk-1 # not a comment',
    GROQ_API_KEY: 'g-1',
    VLLM_API_KEY: 'v',
  });
  expect(parseModelKeys('OPENAI_API_KEY=a\r\nOPENAI_API_KEY=b\r\n').get('OPENAI_API_KEY')).toBe(
    'b',
  );
});

it('keeps or drops whole lines', () => {
  expect(modelKeyLines(TEXT)).not.toContain('canary');
  expect(parseModelKeys(modelKeyLines(TEXT))).toEqual(parseModelKeys(TEXT));
  expect(withoutKeys('A=1\nGROQ_API_KEY=x\n# GROQ_API_KEY=y\nB=2', ['GROQ_API_KEY'])).toBe(
    'A=1\n# GROQ_API_KEY=y\nB=2',
  );
});
