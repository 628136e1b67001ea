import type { Head } from '#net/http/head.ts'

const GRPC = /^application\/grpc(?:\+|[ \t]*(?:;|$))/i

/** Whether a request speaks gRPC: `application/grpc` in whatever encoding. gRPC-Web does not. */
export function isGrpcRequest(request: Head): boolean {
  return GRPC.test(request.get('content-type') ?? '')
}
