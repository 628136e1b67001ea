import type { CompileContext, PolicySource } from '../../policy.ts'
import { reportNotImplemented } from '../../shared/not-implemented.ts'

/** Copies are not sent yet; the request itself goes its way. */
export function compileRequestMirror(sources: readonly PolicySource<unknown>[], context: CompileContext): undefined {
  for (const source of sources) reportNotImplemented(context, source, '', 'no copies are sent')
  return undefined
}
