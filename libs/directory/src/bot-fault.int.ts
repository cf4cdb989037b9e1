import { botFault } from './bot-fault';
import { HomeFixture } from './home-fixture';

let fixture: HomeFixture;
beforeEach(() => void (fixture = new HomeFixture()));
afterEach(() => fixture.remove());

it('says in a reader’s words why a bot cannot be used, and nothing when it can', () => {
  expect(botFault(null)).toMatch(/no longer exists/);
  fixture.prepare();
  const bot = () => fixture.directory.find('default');
  expect(botFault(bot())).toBeNull();
  fixture.write('config.json', { agents: { defaults: { provider: 'openai' } } });
  expect(botFault(bot())).toMatch(/key/);
  fixture.write('config.json', { providers: { openai: { apiKey: 'sk-test' } } });
  expect(botFault(bot())).toBeNull();
  fixture.write('config.json', 'not JSON');
  expect(botFault(bot())).toMatch(/key/);
});
