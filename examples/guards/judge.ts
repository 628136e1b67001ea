import { json } from 'node:stream/consumers'
import { listen, type Upstream, type UpstreamOptions } from '../upstreams/listen.ts'
import { runAlone } from '../upstreams/run-alone.ts'

interface Message {
  readonly role: string
  readonly content: string
}

/** What the gateway asks: the messages of a request, or the texts of an answer. */
interface Question {
  readonly body:
    | { readonly messages: readonly Message[] }
    | { readonly choices: readonly { readonly message: Message }[] }
}

const HOSTS = /\b[a-z0-9-]+\.corp\.example\b/g

/** Starts a guard server: it rejects texts that want other instructions, and masks the names of internal hosts. */
export function startJudge({ port, name = 'judge' }: UpstreamOptions): Promise<Upstream> {
  return listen({ port, name }, () => async (request, response) => {
    const { body } = (await json(request)) as Question
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ action: decide(body) }))
  })
}

function decide(body: Question['body']): object {
  const messages = 'messages' in body ? body.messages : body.choices.map(({ message }) => message)
  if (messages.some(({ content }) => /ignore (all )?previous instructions/i.test(content))) {
    return { body: 'These instructions stay.', status_code: 403 }
  }
  if (!messages.some(({ content }) => content.search(HOSTS) >= 0)) return {}
  const masked = messages.map((message) => ({ ...message, content: message.content.replaceAll(HOSTS, '<HOST>') }))
  return { body: 'messages' in body ? { messages: masked } : { choices: masked.map((message) => ({ message })) } }
}

if (import.meta.main) await runAlone(startJudge, { port: 9407, name: 'judge' })
