import type { BodyDialect } from '../../chat/body-dialect.ts'
import { asIs } from '../../json/write-json.ts'
import { countedTokens, requireVectors, writeEmbeddings } from './embeddings-answer.ts'
import { onlyInput, readEmbeddingsRequest } from './embeddings-request.ts'

/** The dialects of the embedding models that provider seven invokes, by words in their names; the last one has none. */
export const TITAN: BodyDialect = {
  translate(request, _head, losses) {
    const read = readEmbeddingsRequest(request, losses)
    const normalize = read.more.flag('normalize')
    read.more.drop(losses)
    const inputText = asIs<string>(onlyInput(read))
    return {
      body: { inputText, dimensions: read.dimensions, normalize },
      answer: (answer, _head, facts) => {
        const vector = answer.get('embedding') ?? answer.get('embeddingsByType')?.get('float')
        return writeEmbeddings(read, requireVectors([vector], 1), answer.get('inputTextTokenCount')?.count, facts)
      },
    }
  },
}

export const COHERE: BodyDialect = {
  translate(request, _head, losses) {
    const read = readEmbeddingsRequest(request, losses)
    const { inputs, more, model, dimensions } = read
    const input_type = more.text('input_type') ?? 'search_query'
    const truncate = more.text('truncate')
    more.drop(losses)
    const takesDimensions = model.includes('embed-v4')
    const size = request.get('dimensions')
    if (size !== undefined && !takesDimensions) losses.drop(size, 'the model supports only one vector size')
    const texts = inputs.map((input) => asIs<string>(input))
    return {
      body: { texts, input_type, truncate, output_dimension: takesDimensions ? dimensions : undefined },
      answer: (answer, head, facts) => {
        const embeddings = answer.get('embeddings')
        const vectors = (embeddings?.get('float') ?? embeddings)?.elements ?? []
        return writeEmbeddings(read, requireVectors(vectors, inputs.length), countedTokens(head), facts)
      },
    }
  },
}

export const NOVA: BodyDialect = {
  translate(request, _head, losses) {
    const read = readEmbeddingsRequest(request, losses)
    const { more } = read
    const embeddingPurpose = more.text('embedding_purpose') ?? 'GENERIC_INDEX'
    const truncationMode = more.text('truncation_mode') ?? 'END'
    more.drop(losses)
    const singleEmbeddingParams = {
      embeddingPurpose,
      embeddingDimension: read.dimensions,
      text: { truncationMode, value: asIs<string>(onlyInput(read)) },
    }
    return {
      body: { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams },
      answer: (answer, head, facts) => {
        const vector = answer.get('embeddings')?.elements[0]?.get('embedding')
        return writeEmbeddings(read, requireVectors([vector], 1), countedTokens(head), facts)
      },
    }
  },
}
