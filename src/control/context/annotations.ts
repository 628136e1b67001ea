import { OWN_GROUP } from '#api/groups.ts'
import type { ApiObject } from '#api/object.ts'

/** The prefix of all annotations of this controller. */
export const ANNOTATION_PREFIX = `${OWN_GROUP}/`

/** The annotations that the gateway reads; the specification has no fields for them. */
export const ANNOTATION = {
  acme: `${ANNOTATION_PREFIX}acme`,
  forwardedHeaders: `${ANNOTATION_PREFIX}forwarded-headers`,
  maxConnections: `${ANNOTATION_PREFIX}max-connections`,
  maxWaitingRequests: `${ANNOTATION_PREFIX}max-waiting-requests`,
  mcpTargetName: `${ANNOTATION_PREFIX}mcp-target-name`,
  mcpPath: `${ANNOTATION_PREFIX}mcp-path`,
  mcpToolPinning: `${ANNOTATION_PREFIX}mcp-tool-pinning`,
  mcpAcceptedTools: `${ANNOTATION_PREFIX}mcp-accepted-tools`,
} as const

const OF_ENDPOINTS = [ANNOTATION.maxConnections, ANNOTATION.maxWaitingRequests]

/** By kind of object: the annotations that the gateway reads. */
export const ANNOTATIONS_OF: Readonly<Record<string, readonly string[]>> = {
  Gateway: [ANNOTATION.acme, ANNOTATION.forwardedHeaders],
  ProxyBackend: [...OF_ENDPOINTS, ANNOTATION.mcpToolPinning, ANNOTATION.mcpAcceptedTools],
  Service: [...OF_ENDPOINTS, ANNOTATION.mcpTargetName, ANNOTATION.mcpPath],
}

export function hasOwnAnnotation({ metadata: { annotations } }: ApiObject): boolean {
  for (const name in annotations) if (name.startsWith(ANNOTATION_PREFIX)) return true
  return false
}
