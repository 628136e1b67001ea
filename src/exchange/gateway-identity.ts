/** What a gateway knows of itself: the `env` variables. A fixed set, never the environment of the process. */
export interface GatewayIdentity {
  readonly podName: string | undefined
  readonly namespace: string | undefined
  /** The Gateway that it was deployed for. */
  readonly gateway: string | undefined
}
