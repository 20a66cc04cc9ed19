import { createServer } from 'node:http';
import { createApp } from './app.js';

const { handle } = createApp();
const port = Number(process.env.PORT ?? 8471);

createServer(async (incoming, outgoing) => {
  const chunks = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString('utf8');

  const response = handle({ method: incoming.method, path: incoming.url, body });
  outgoing.writeHead(response.status, response.headers);
  outgoing.end(response.body);
}).listen(port, '127.0.0.1', () => console.log(`toolshed-api on http://127.0.0.1:${port}`));
