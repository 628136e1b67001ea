import { createRequire } from 'node:module'
import { join } from 'node:path'
import { type Answer, type Client, type Connection, type Question, reasonFrom, type Target } from '../client.ts'
import { TOOL } from '../replies.ts'
import type { Upstream } from '../upstreams.ts'

export const GOOGLE_PACKAGES = ['@google/genai@2.32.0'] as const

// What is used of the package, which is not installed with the project.
interface GenAi {
  readonly GoogleGenAI: new (settings: object) => { readonly models: Models }
}
interface Models {
  generateContent(request: object): Promise<Generated>
  generateContentStream(request: object): Promise<AsyncIterable<Generated>>
}
interface Part {
  readonly text?: string
  readonly thought?: boolean
  readonly functionCall?: FunctionCall
}
interface FunctionCall {
  readonly id?: string
  readonly name: string
  readonly args: { readonly city: string }
}
interface Generated {
  readonly candidates?: readonly {
    readonly content?: { readonly parts?: readonly Part[] }
    readonly finishReason?: string
  }[]
  readonly usageMetadata?: {
    readonly promptTokenCount?: number
    readonly cachedContentTokenCount?: number
    readonly candidatesTokenCount?: number
    readonly thoughtsTokenCount?: number
  }
}

const REASONS = { STOP: 'stop', MAX_TOKENS: 'length', SAFETY: 'refusal' } as const
/** Settings of the client by upstream. */
const SURFACES: Readonly<Record<string, object>> = { five: {}, six: { vertexai: true } }

/** The native API of Gemini, on both clouds that serve it. */
export function googleClients(folder: string): readonly Client[] {
  const { GoogleGenAI } = createRequire(join(folder, 'package.json'))('@google/genai') as GenAi
  const unreachable = ({ name }: Upstream) =>
    SURFACES[name] === undefined ? 'it speaks generateContent, which passes through to five and six only' : undefined
  return [{ name: 'google genai', unreachable, isPassed: true, connect: (target) => connect(GoogleGenAI, target) }]
}

function connect(GoogleGenAI: GenAi['GoogleGenAI'], { url, headers, upstream }: Target): Connection {
  const httpOptions = { baseUrl: url, headers }
  const { models } = new GoogleGenAI({ apiKey: 'k', httpOptions, ...SURFACES[upstream.name] })
  const declaration = { name: TOOL.name, description: TOOL.description, parametersJsonSchema: TOOL.parameters }
  const requestOf = (question: Question, more: object = {}) => ({
    model: upstream.model,
    contents: contentsOf(question),
    config: {
      systemInstruction: 'Be brief.',
      ...(question.offersTools && { tools: [{ functionDeclarations: [declaration] }] }),
      ...(question.thinks && { thinkingConfig: { includeThoughts: true } }),
      ...(question.limit && { maxOutputTokens: question.limit }),
      ...(question.signal && { abortSignal: question.signal }),
      ...more,
    },
  })
  return {
    faultOf(error) {
      if (!(error instanceof Error)) return undefined
      // The client does not show headers.
      return {
        status: (error as { status?: number }).status,
        message: error.message,
        retryAfter: 'hidden',
        kind: error.name,
      }
    },
    async ask(question) {
      const request = requestOf(question)
      return answerOf([await models.generateContent(request)], request.contents)
    },
    async stream(question, onText) {
      const request = requestOf(question)
      const chunks: Generated[] = []
      for await (const chunk of await models.generateContentStream(request)) {
        if (chunk.candidates?.[0]?.content?.parts?.some(({ text }) => text)) onText()
        chunks.push(chunk)
      }
      return answerOf(chunks, request.contents)
    },
    async parse(question, schema) {
      const json = { responseMimeType: 'application/json', responseJsonSchema: schema }
      const request = requestOf(question, json)
      return JSON.parse(answerOf([await models.generateContent(request)], request.contents).text)
    },
    async runTools(question, run, isStream) {
      const tool = {
        tool: async () => ({ functionDeclarations: [declaration] }),
        callTool: async (calls: readonly FunctionCall[]) =>
          calls.map(({ id, name, args }) => ({ functionResponse: { id, name, response: { output: run(args.city) } } })),
      }
      const request = requestOf(question, { tools: [tool] })
      if (!isStream) return answerOf([await models.generateContent(request)], request.contents).text
      const chunks: Generated[] = []
      for await (const chunk of await models.generateContentStream(request)) chunks.push(chunk)
      // The client shows the text before the call, too.
      return answerOf(chunks, request.contents).text.replace('I look.', '')
    },
  }
}

function contentsOf({ history, prompt, image, results = [] }: Question): object[] {
  const contents = [...((history as object[]) ?? [])]
  const answered = results.map(({ id, name, text }) => ({ functionResponse: { id, name, response: { output: text } } }))
  if (answered.length > 0) contents.push({ role: 'user', parts: answered })
  if (prompt === undefined) return contents
  const picture = image === undefined ? [] : [{ inlineData: { mimeType: 'image/png', data: image } }]
  return [...contents, { role: 'user', parts: [{ text: prompt }, ...picture] }]
}

function answerOf(chunks: readonly Generated[], contents: object[]): Answer {
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
  const calls = parts.flatMap(({ functionCall }) => (functionCall ? [functionCall] : []))
  const { candidates, usageMetadata: usage } = chunks.at(-1)!
  const reason = reasonFrom(REASONS, candidates?.[0]?.finishReason)
  const output = usage && (usage.candidatesTokenCount ?? 0) + (usage.thoughtsTokenCount ?? 0)
  return {
    text: parts.map(({ text, thought }) => (thought ? '' : (text ?? ''))).join(''),
    calls: calls.map(({ id, name, args }) => ({ id: id ?? '', name, input: args })),
    reason: reason === 'stop' && calls.length > 0 ? 'calls' : reason,
    usage: { input: usage?.promptTokenCount, cached: usage?.cachedContentTokenCount, output },
    history: [...contents, { role: 'model', parts }],
  }
}
