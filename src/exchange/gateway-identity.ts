/** The `env` variables: a fixed set of facts about the gateway, never the environment of the process. */
export interface GatewayIdentity {
  readonly podName: string | undefined
  readonly namespace: string | undefined
  /** The Gateway of the deployment. */
  readonly gateway: string | undefined
}
