import type { GrpcStatusCode } from '@mysten/sui/grpc'

export type GrpcCode = keyof typeof GrpcStatusCode

/** A reply with a gRPC status other than OK. */
export class GrpcError extends Error {
  override readonly name = 'GrpcError'
  readonly code: GrpcCode

  constructor(code: GrpcCode, message: string) {
    super(message)
    this.code = code
  }
}

export const invalidArgument = (message: string): GrpcError => new GrpcError('INVALID_ARGUMENT', message)
export const notFound = (message: string): GrpcError => new GrpcError('NOT_FOUND', message)

/** A transaction that validators do not sign. Nothing is charged. Texts are those of sui-types' UserInputError. */
export class TransactionRefusal extends Error {
  override readonly name = 'TransactionRefusal'
}
