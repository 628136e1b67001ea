import type { Body } from './body.ts'

export const VECTOR = [0.5, -0.25, 1]

/** The answer to texts to embed, in the form that the path says; undefined: it is no such path. */
export function embeddingsAt(path: string, body: Body): object | undefined {
  if (path.endsWith('/embeddings')) return ofChat(body)
  if (path.endsWith(':predict')) {
    const values = { values: VECTOR, statistics: { token_count: 3, truncated: false } }
    return { predictions: body.get('instances').list.map(() => ({ embeddings: values })) }
  }
  if (path.endsWith(':batchEmbedContents'))
    return { embeddings: body.get('requests').list.map(() => ({ values: VECTOR })) }
  if (path.endsWith(':embedContent')) return { embedding: { values: VECTOR } }
  if (path.includes('titan') && path.endsWith('/invoke')) return { embedding: VECTOR, inputTextTokenCount: 3 }
  if (path.includes('cohere') && path.endsWith('/invoke')) {
    return {
      embeddings: body.get('texts').list.map(() => VECTOR),
      id: 'e',
      response_type: 'embeddings_floats',
      texts: [],
    }
  }
  return undefined
}

function ofChat(body: Body): object {
  const encoded = body.get('encoding_format').text === 'base64'
  const embedding = encoded ? Buffer.from(new Float32Array(VECTOR).buffer).toString('base64') : VECTOR
  const inputs = body.get('input').text === undefined ? body.get('input').list : [body.get('input')]
  return {
    object: 'list',
    data: inputs.map((_, index) => ({ object: 'embedding', index, embedding })),
    model: body.get('model').text,
    usage: { prompt_tokens: 3 * inputs.length, total_tokens: 3 * inputs.length },
  }
}
