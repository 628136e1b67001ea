import http2, { type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { seeded } from './mutate.ts'

// Started by chaos-http2.ts. Clients that send concurrent requests, and cancel requests and connections at any time.

const [port, seconds, seed] = process.argv.slice(2).map(Number) as [number, number, number]
const random = seeded(seed)
const upTo = (most: number) => Math.floor(random() * most)
const CONNECTIONS = 20
const REQUESTS = 30
const AT_ONCE = 8
const { NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_INTERNAL_ERROR, NGHTTP2_NO_ERROR } = http2.constants
const CODES = [NGHTTP2_NO_ERROR, NGHTTP2_INTERNAL_ERROR, NGHTTP2_CANCEL, NGHTTP2_ENHANCE_YOUR_CALM]

const tally = { whole: 0, refused: 0, cut: 0, wrong: [] as string[] }
/** Cancelled streams, whose result is unknown. */
const leaving = new WeakSet<ClientHttp2Stream>()
let lastNumber = 0

function converse(): Promise<void> {
  return new Promise((resolve) => {
    const session = http2.connect(`http://127.0.0.1:${port}`)
    session.on('error', () => {})
    session.on('close', resolve)
    let left = REQUESTS
    let open = 0
    const sendMore = () => {
      while (left > 0 && open < AT_ONCE && !session.destroyed && !session.closed) {
        left--
        open++
        send(session).once('close', () => {
          open--
          setImmediate(sendMore)
        })
      }
      if (left === 0 && open === 0) session.close()
    }
    sendMore()
    setTimeout(() => session.destroy(), random() < 0.7 ? 3000 : upTo(200))
  })
}

function send(session: ClientHttp2Session): ClientHttp2Stream {
  const path = `/${seed}/${lastNumber++}`
  const uploads = random() < 0.5
  const stream = session.request({ ':method': uploads ? 'POST' : 'GET', ':path': path }, { endStream: !uploads })
  let status = 0
  let body = ''
  let ended = false
  stream.setEncoding('latin1')
  stream.on('error', () => {})
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0
  })
  if (random() < 0.8) {
    stream.on('data', (text: string) => {
      body += text
    })
  }
  stream.on('end', () => {
    ended = true
  })
  stream.on('close', () => {
    if (!ended || leaving.has(stream) || session.destroyed || stream.rstCode !== NGHTTP2_NO_ERROR) tally.cut++
    else if (status >= 500) tally.refused++
    else if (body.startsWith(`${path}|`) && body.endsWith(`|${path}`)) tally.whole++
    else tally.wrong.push(`${path}: ${status} ${body.slice(0, 60)}`)
  })
  if (uploads) upload(stream)
  if (random() < 0.4) setTimeout(giveUp, upTo(25), stream)
  else setTimeout(giveUp, 500, stream)
  return stream
}

function upload(stream: ClientHttp2Stream): void {
  const timer = setInterval(() => {
    if (stream.destroyed || stream.writableEnded) clearInterval(timer)
    else if (random() < 0.1) stream.end()
    else stream.write(Buffer.alloc(random() < 0.7 ? 1 : upTo(40_000)))
  }, 1 + upTo(4))
}

function giveUp(stream: ClientHttp2Stream): void {
  if (stream.destroyed) return
  leaving.add(stream)
  if (random() < 0.5) stream.close(CODES[upTo(CODES.length)])
  else stream.destroy(new Error('given up'))
}

const until = performance.now() + seconds * 1000
await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    while (performance.now() < until) await converse()
  }),
)
process.send?.(tally)
process.on('disconnect', () => process.exit(0))
