import type { PolicyRun } from '../../policy.ts'
import { type Transformation, transformRequest, transformResponse } from './transform.ts'

/** A transformation without conditions, as a run. */
export function runTransformation(transformation: Transformation): PolicyRun {
  const { request, response, readsRequestBody, readsResponseBody, llmReads, fields } = transformation
  return {
    ...(request === undefined ? {} : { request: (exchange) => transformRequest(request, exchange) }),
    ...(response === undefined ? {} : { response: (exchange) => transformResponse(response, exchange) }),
    readsRequestBody,
    readsResponseBody,
    llmReads,
    fields,
  }
}
