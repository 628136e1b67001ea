import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { type WebSocket, WebSocketServer } from 'ws'
import { TEXTS, USAGE } from '../replies.ts'

const sockets = new WebSocketServer({ noServer: true })

/** Sessions of a model; a handler for the event `upgrade` of a server. */
export function acceptRealtime(request: IncomingMessage, socket: Duplex, head: Buffer): void {
  const { pathname, searchParams } = new URL(request.url ?? '', 'http://vendor')
  if (!pathname.endsWith('/v1/realtime')) return void socket.end('HTTP/1.1 404 Not Found\r\n\r\n')
  sockets.handleUpgrade(request, socket, head, (session) => serve(session, searchParams.get('model')))
}

function serve(session: WebSocket, model: string | null): void {
  let events = 0
  const send = (type: string, members: object) =>
    session.send(JSON.stringify({ type, event_id: `event_${events++}`, ...members }))
  send('session.created', { session: { type: 'realtime', object: 'realtime.session', id: 'sess_1', model } })
  session.on('error', () => {})
  session.on('message', (data) => {
    if (JSON.parse(String(data)).type !== 'response.create') return
    const of = { response_id: 'resp_1', item_id: 'item_1', output_index: 0, content_index: 0 }
    send('response.created', {
      response: { id: 'resp_1', object: 'realtime.response', status: 'in_progress', output: [] },
    })
    for (const delta of TEXTS) send('response.output_text.delta', { ...of, delta })
    send('response.output_text.done', { ...of, text: TEXTS.join('') })
    const usage = { input_tokens: USAGE.input, output_tokens: USAGE.output, total_tokens: USAGE.input + USAGE.output }
    send('response.done', {
      response: { id: 'resp_1', object: 'realtime.response', status: 'completed', output: [], usage },
    })
  })
}
