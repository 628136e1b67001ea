import type { ResponseStep, Step } from '#exchange/step.ts'
import type { CompileContext, PolicyRun, PolicySource } from '../../policy.ts'
import type { HttpHeaderFilterSpec } from '../../shared/fields/header-filter.ts'
import {
  type CompiledModifier,
  compileHeaderModifier,
  isHeaderModifier,
  modifyHeaders,
} from '../../shared/fields/modify-headers.ts'
import type { HeaderModifiersSpec } from './schema.ts'

export function compileHeaderModifiers(
  sources: readonly PolicySource<HeaderModifiersSpec>[],
  context: CompileContext,
): PolicyRun {
  const source = sources[0]!
  const { request, response } = source.spec
  return {
    fields: { request: namesIn(request), response: namesIn(response) },
    ...(request === undefined
      ? {}
      : { request: modifyRequest(compileHeaderModifier(source, 'request', request, context)) }),
    ...(response === undefined
      ? {}
      : { response: modifyResponse(compileHeaderModifier(source, 'response', response, context)) }),
  }
}

/** Names whose received values are replaced or removed. Adding keeps existing values, so added names are not included. */
function namesIn({ set = [], remove = [] }: HttpHeaderFilterSpec = {}): string[] {
  return [...set.map(({ name }) => name), ...remove]
}

function modifyRequest(modifier: CompiledModifier): Step {
  if (!isHeaderModifier(modifier)) return () => modifier
  const { host } = modifier
  return (exchange) => {
    if (host !== undefined) {
      exchange.request.authority = host
      exchange.hostRewritten = true
    }
    return modifyHeaders(modifier, exchange.request)
  }
}

function modifyResponse(modifier: CompiledModifier): ResponseStep {
  if (!isHeaderModifier(modifier)) return () => modifier
  return ({ response }) => (response === undefined ? undefined : modifyHeaders(modifier, response))
}
