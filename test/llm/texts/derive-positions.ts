import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { API, type Checker, type Type } from 'typescript/unstable/sync'

/**
 * Derives all places of strings in the bodies that the vendors publish, from the types of their official clients, and writes them to
 * `positions/`: one a line, in the notation of `position.ts`. Run it after an update of a client:
 * `node test/llm/texts/derive-positions.ts`
 */
const BODIES: readonly (readonly [file: string, module: string, type: string])[] = [
  ['completions-request', 'openai/resources/chat/completions', 'ChatCompletionCreateParamsNonStreaming'],
  ['completions-answer', 'openai/resources/chat/completions', 'ChatCompletion'],
  ['completions-event', 'openai/resources/chat/completions', 'ChatCompletionChunk'],
  ['messages-request', '@anthropic-ai/sdk/resources/beta/messages', 'MessageCreateParamsNonStreaming'],
  ['messages-answer', '@anthropic-ai/sdk/resources/beta/messages', 'BetaMessage'],
  ['messages-event', '@anthropic-ai/sdk/resources/beta/messages', 'BetaRawMessageStreamEvent'],
  ['responses-request', 'openai/resources/responses/responses', 'ResponseCreateParamsNonStreaming'],
  ['responses-answer', 'openai/resources/responses/responses', 'Response'],
  ['responses-event', 'openai/resources/responses/responses', 'ResponseStreamEvent'],
  ['embeddings-request', 'openai/resources/embeddings', 'EmbeddingCreateParams'],
  ['realtime-event', 'openai/resources/realtime/realtime', 'RealtimeClientEvent'],
]

const root = fileURLToPath(new URL('.', import.meta.url))
const project = `${root}derived/`

/** Members whose value says which variant of a union an object is. */
const DISCRIMINATORS = ['type', 'role']

class Deriver {
  readonly #checker: Checker
  readonly #found = new Set<string>()
  readonly #properties = new Map<number, readonly (readonly [name: string, type: Type])[]>()

  /** Of events, only one needs to be tried with all that a response can contain. */
  readonly #isEvents: boolean

  constructor(checker: Checker, isEvents: boolean) {
    this.#checker = checker
    this.#isEvents = isEvents
  }

  derive(type: Type): readonly string[] {
    this.#visit(type, '', [])
    return [...this.#found].sort()
  }

  /** @param around the objects that contain this one: a recursive type is entered twice */
  #visit(type: Type, path: string, around: readonly number[]): void {
    if (type.isUnionType()) {
      const members = type.getTypes()
      if (members.every((member) => !member.isStringLiteralType())) {
        for (const member of members) this.#visit(member, path, around)
        return
      }
      // The names that the vendor lists are a string like any other.
      this.#found.add(path)
      for (const member of members) if (!member.isStringLiteralType()) this.#visit(member, path, around)
      return
    }
    if (type.isStringLiteralType() || type.isTemplateLiteralType()) return void this.#found.add(path)
    if (type.isIntrinsicType()) {
      if (type.intrinsicName === 'string') this.#found.add(path)
      // Anything: a string, and an object with strings.
      if (type.intrinsicName === 'unknown' || type.intrinsicName === 'any') {
        for (const inner of ['', '{}', '{}[]{}']) this.#found.add(path + inner)
      }
      return
    }
    // `string & {}`, which lets editors suggest names: any string.
    if (type.isIntersectionType() && type.getTypes().some((each) => each.isIntrinsicType()))
      return void this.#found.add(path)
    if (this.#checker.isArrayLikeType(type)) {
      for (const element of this.#checker.getTypeArguments(type as never)) this.#visit(element, `${path}[]`, around)
      return
    }
    if (type.isObjectType() || type.isIntersectionType()) this.#visitObject(type, path, around)
  }

  #visitObject(type: Type, path: string, around: readonly number[]): void {
    if (around.filter((id) => id === type.id).length > 0) return
    const inside = [...around, type.id]
    const properties = this.#propertiesOf(type)
    const variant = DISCRIMINATORS.flatMap((name) => {
      const found = properties.find(([own]) => own === name)?.[1]
      return found?.isStringLiteralType() ? [`${name}=${found.value}`] : []
    })
    const here = variant.length === 0 ? path : `${path}(${variant.join(',')})`
    for (const [name, member] of properties) {
      const isVariant = variant.some((each) => each.startsWith(`${name}=`))
      const isRepeated = name === 'response' && !variant.includes('type=response.completed')
      if (!isVariant && !(isRepeated && this.#isEvents)) this.#visit(member, `${here}.${name}`, inside)
    }
    for (const info of this.#checker.getIndexInfosOfType(type)) {
      this.#found.add(`${here}{key}`)
      this.#visit(info.valueType, `${here}{}`, inside)
    }
  }

  #propertiesOf(type: Type): readonly (readonly [name: string, type: Type])[] {
    let properties = this.#properties.get(type.id)
    if (properties === undefined) {
      const symbols = this.#checker.getPropertiesOfType(type)
      const types = this.#checker.getTypeOfSymbol(symbols)
      properties = symbols.flatMap((symbol, index) => (types[index] === undefined ? [] : [[symbol.name, types[index]]]))
      this.#properties.set(type.id, properties)
    }
    return properties
  }
}

mkdirSync(project, { recursive: true })
const source = `${project}bodies.ts`
writeFileSync(
  source,

  BODIES.map(
    ([, module, type], index) =>
      `import type { ${type} as Own${index} } from '${module}'\nexport declare const body${index}: Own${index}\n`,
  ).join(''),
)
writeFileSync(
  `${project}tsconfig.json`,
  JSON.stringify({
    compilerOptions: { strict: true, module: 'nodenext', skipLibCheck: true, noEmit: true },
    files: ['bodies.ts'],
  }),
)
const api = new API({ cwd: project })
try {
  const snapshot = api.updateSnapshot({ openProject: `${project}tsconfig.json` })
  const opened = snapshot.getProject(`${project}tsconfig.json`)!
  const module = opened.checker.getSymbolAtLocation(opened.program.getSourceFile(source)!)!
  BODIES.forEach(([file], index) => {
    const symbol = opened.checker.getExportsOfModule(module).find(({ name }) => name === `body${index}`)!
    const positions = new Deriver(opened.checker, file === 'responses-event').derive(
      opened.checker.getTypeOfSymbol(symbol)!,
    )
    writeFileSync(`${root}positions/${file}.txt`, `${positions.join('\n')}\n`)
    process.stdout.write(`${file}: ${positions.length}\n`)
  })
} finally {
  api.close()
  rmSync(project, { recursive: true })
}
