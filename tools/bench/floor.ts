// The floor: the least a program between a client and a model server can do. It reads the SSE of the
// model server and writes each token to the client's socket, with nothing stored and nothing checked.
import http from 'node:http';
import { createInterface } from 'node:readline';
import { WebSocketServer, type WebSocket } from 'ws';
import type { FloorAnswer, FloorAsk } from './floor-messages';

const [modelServer = ''] = process.argv.slice(2);
const agent = new http.Agent({ keepAlive: true });

const server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
server.on('connection', (socket) => {
  socket.on('message', (data) => {
    const ask: FloorAsk = JSON.parse(data.toString());
    if ('echo' in ask) answer(socket, { tag: ask.tag, text: 'x'.repeat(ask.echo), done: true });
    else relay(socket, ask);
  });
});
server.on('listening', () => {
  const address = server.address();
  process.send?.(typeof address === 'object' ? address?.port : undefined);
});
process.on('disconnect', () => process.exit());

function relay(socket: WebSocket, { tag, model, content }: Extract<FloorAsk, { model: string }>) {
  const url = `${modelServer}/chat/completions`;
  const headers = { 'content-type': 'application/json' };
  const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
    createInterface({ input: response }).on('line', (line) => {
      if (!line.startsWith('data: ')) return;
      if (line === 'data: [DONE]') return answer(socket, { tag, text: '', done: true });
      const text = JSON.parse(line.slice(6)).choices[0]?.delta.content;
      if (text) answer(socket, { tag, text });
    });
  });
  const messages = [{ role: 'user', content }];
  request.end(JSON.stringify({ model, stream: true, messages }));
}

function answer(socket: WebSocket, message: FloorAnswer): void {
  socket.send(JSON.stringify(message));
}
