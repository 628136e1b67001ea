import type { BodyDialect } from '../../chat/body-dialect.ts'
import type { JsonValue } from '../../json/json-document.ts'
import { asIs } from '../../json/write-json.ts'
import { requireVectors, writeEmbeddings } from './embeddings-answer.ts'
import { readEmbeddingsRequest } from './embeddings-request.ts'

/** What a model does with the vector unless the client says so (`task_type`). */
const DEFAULT_TASK = 'RETRIEVAL_QUERY'

/** Embeddings of the prediction API of provider six. */
export const PREDICT: BodyDialect = {
  translate(request, _head, losses) {
    const read = readEmbeddingsRequest(request, losses)
    const { inputs, dimensions, more } = read
    const task_type = more.text('task_type') ?? DEFAULT_TASK
    const title = more.text('title')
    const autoTruncate = more.flag('auto_truncate')
    more.drop(losses)
    const instances = inputs.map((input) => ({ content: asIs<string>(input), task_type, title }))
    const body = { instances, parameters: { autoTruncate, outputDimensionality: dimensions } }
    return {
      body,
      answer: (answer, _head, facts) => {
        const embeddings = (answer.get('predictions')?.elements ?? []).map((prediction) => prediction.get('embeddings'))
        const vectors = requireVectors(
          embeddings.map((embedding) => embedding?.get('values')),
          inputs.length,
        )
        return writeEmbeddings(read, vectors, sumOf(embeddings), facts)
      },
    }
  },
}

function sumOf(embeddings: readonly (JsonValue | undefined)[]): number | undefined {
  const counts = embeddings.map((embedding) => embedding?.get('statistics')?.get('token_count')?.count)
  return counts.includes(undefined) ? undefined : counts.reduce<number>((sum, count) => sum + (count ?? 0), 0)
}
