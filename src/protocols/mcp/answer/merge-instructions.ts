import type { JsonObject } from '#base/json.ts'

/** The instructions of several targets, each under the name of its target. */
export function mergeInstructions(
  targets: readonly { readonly name: string; readonly result: JsonObject | undefined }[],
): string {
  const parts = [PREAMBLE]
  for (const { name, result } of targets) {
    const instructions = result?.instructions
    if (typeof instructions === 'string' && instructions !== '') parts.push(`[${name}]\n${instructions}`)
  }
  return parts.join('\n\n')
}

const PREAMBLE =
  'This gateway combines several MCP servers. Names of tools and prompts begin with the name of their server and an ' +
  'underscore, resource URIs with the name of their server and a plus sign.'
