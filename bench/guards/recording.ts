import { setTimeout } from 'node:timers/promises'
import { bodyOf, chunk, STREAMED, startGuardedGateway } from './guarded-gateway.ts'

/** Records a streamed answer behind a guard for e-mail addresses: when the provider sent each text, and when it came out of the gateway. */

const TEXTS = ['Please', ' write', ' to an', 'n@exam', 'ple.org', ' today', '.']
const PAUSE_MS = 50

await using stops = new AsyncDisposableStack()
const lines: { readonly at: number; readonly who: string; readonly text: string }[] = []
let startMs = 0
const note = (who: string, text: string) => lines.push({ at: performance.now() - startMs, who, text })

const gateway = await startGuardedGateway(
  {
    promptGuard: { response: [{ regex: { builtins: ['Email'] } }] },
    async provider(request, response) {
      await bodyOf(request)
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(chunk({ role: 'assistant', content: '' }))
      for (const content of TEXTS) {
        await setTimeout(PAUSE_MS)
        note('sent', content)
        response.write(chunk({ content }))
      }
      response.end(`${chunk({}, 'stop')}data: [DONE]\n\n`)
    },
  },
  stops,
)

async function record(): Promise<void> {
  lines.length = 0
  startMs = performance.now()
  const response = await fetch(`${gateway.url}/guarded/v1/chat/completions`, STREAMED)
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    for (const line of piece.split('\n')) {
      if (line.startsWith('data: {'))
        note('received', JSON.parse(line.slice(6)).choices[0].delta.content ?? '(the end)')
    }
  }
}

// The first stream also loads code.
await record()
await record()
console.log('| Time | The provider sent | The client received |\n| --- | --- | --- |')
for (const { at, who, text } of lines) {
  const cells = who === 'sent' ? `\`${text}\` |` : `| ${text === '' ? 'nothing' : `\`${text}\``}`
  console.log(`| ${at.toFixed(1)} ms | ${cells} |`)
}
