import type { McpRequest } from '../request/mcp-request.ts'

/**
 * Begins sessions of targets so that a client which leaves does not stop it: a target tells the id of its session only in its response, and a session with
 * an unknown id could not be ended. The calls have deadlines of their own.
 */
export async function outlastClient<Result>(
  request: McpRequest,
  begin: (lasting: McpRequest) => Promise<Result>,
): Promise<Result> {
  const { call, claim } = request.deps.lasting()
  const { signal } = new AbortController()
  try {
    return await begin({ ...request, deps: { ...request.deps, call, claim, signal } })
  } finally {
    claim.release()
  }
}
