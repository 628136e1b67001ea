/**
 * What the gateway reads of `ProxyBackend.spec.ai` and `backend.ai`. The schemas live above this room; their types fit these.
 */
export interface AiBackendSpec {
  readonly provider?: LlmProviderSpec | undefined
  readonly groups?: readonly { readonly providers: readonly NamedLlmProviderSpec[] }[] | undefined
}

/** `LLMProvider` (specification 1, 2.4): exactly one provider block. */
export interface LlmProviderSpec extends ProviderBlocks {
  readonly host?: string | undefined
  readonly port?: number | undefined
  readonly path?: string | undefined
  readonly pathPrefix?: string | undefined
}

export interface NamedLlmProviderSpec extends LlmProviderSpec {
  readonly name: string
}

export interface ProviderBlocks {
  readonly providerOne?: ModelBlock | undefined
  readonly providerTwo?: ProviderTwoBlock | undefined
  readonly providerThree?: ProviderThreeBlock | undefined
  readonly providerFour?: ModelBlock | undefined
  readonly providerFive?: ModelBlock | undefined
  readonly providerSix?: ProviderSixBlock | undefined
  readonly providerSeven?: ProviderSevenBlock | undefined
}

export type ProviderKind = keyof ProviderBlocks

export interface ModelBlock {
  readonly model?: string | undefined
}

export interface ProviderTwoBlock {
  readonly endpoint: string
  readonly deploymentName?: string | undefined
  readonly apiVersion?: string | undefined
}

export interface ProviderThreeBlock {
  readonly resourceName: string
  readonly resourceType: 'ResourceTypeOne' | 'ResourceTypeTwo'
  readonly model?: string | undefined
  readonly apiVersion?: string | undefined
  readonly projectName?: string | undefined
}

export interface ProviderSixBlock {
  readonly projectId: string
  readonly model?: string | undefined
  readonly region?: string | undefined
}

export interface ProviderSevenBlock {
  readonly region?: string | undefined
  readonly model?: string | undefined
  readonly guardrail?: { readonly identifier: string; readonly version: string } | undefined
}
