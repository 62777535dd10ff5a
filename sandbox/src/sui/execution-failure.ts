import { GrpcTypes } from '@mysten/sui/grpc'

const { ExecutionError_ExecutionErrorKind: Kind, CommandArgumentError_CommandArgumentErrorKind: ArgumentKind } =
  GrpcTypes

const argumentKinds = {
  TypeMismatch: ArgumentKind.TYPE_MISMATCH,
  InvalidBCSBytes: ArgumentKind.INVALID_BCS_BYTES,
  InvalidUsageOfPureArg: ArgumentKind.INVALID_USAGE_OF_PURE_ARGUMENT,
  IndexOutOfBounds: ArgumentKind.INDEX_OUT_OF_BOUNDS,
  SecondaryIndexOutOfBounds: ArgumentKind.SECONDARY_INDEX_OUT_OF_BOUNDS,
  InvalidResultArity: ArgumentKind.INVALID_RESULT_ARITY,
  InvalidGasCoinUsage: ArgumentKind.INVALID_GAS_COIN_USAGE,
  InvalidValueUsage: ArgumentKind.INVALID_VALUE_USAGE,
  InvalidObjectByValue: ArgumentKind.INVALID_OBJECT_BY_VALUE,
  InvalidObjectByMutRef: ArgumentKind.INVALID_OBJECT_BY_MUT_REF,
  SharedObjectOperationNotAllowed: ArgumentKind.CONSENSUS_OBJECT_OPERATION_NOT_ALLOWED,
  InvalidMakeMoveVecNonObjectArgument: ArgumentKind.INVALID_MAKE_MOVE_VEC_NON_OBJECT_ARGUMENT,
} as const

const simpleKinds = {
  InsufficientGas: Kind.INSUFFICIENT_GAS,
  InsufficientCoinBalance: Kind.INSUFFICIENT_COIN_BALANCE,
  CoinBalanceOverflow: Kind.COIN_BALANCE_OVERFLOW,
  FunctionNotFound: Kind.FUNCTION_NOT_FOUND,
  ArityMismatch: Kind.ARITY_MISMATCH,
  TypeArityMismatch: Kind.TYPE_ARITY_MISMATCH,
  InvalidTransferObject: Kind.INVALID_TRANSFER_OBJECT,
} as const

type Location = Readonly<{ package: string; module: string; function: string }>

/** Why a transaction fails that is charged all the same. */
export type Failure =
  | Readonly<{ kind: keyof typeof simpleKinds }>
  | Readonly<{ kind: 'MoveAbort'; location: Location; code: bigint }>
  | Readonly<{ kind: 'MovePrimitiveRuntimeError'; location: Location }>
  | Readonly<{ kind: 'UnusedValueWithoutDrop'; result: number; subresult: number }>
  | Readonly<{
      kind: 'CommandArgumentError'
      argument: number
      error: keyof typeof argumentKinds
      index?: number
      subindex?: number
    }>

export class ExecutionFailure extends Error {
  override readonly name = 'ExecutionFailure'
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.kind)
    this.failure = failure
  }
}

export const argumentError = (
  argument: number,
  error: keyof typeof argumentKinds,
  index?: number,
  subindex?: number,
): ExecutionFailure =>
  new ExecutionFailure({
    kind: 'CommandArgumentError',
    argument,
    error,
    ...(index === undefined ? {} : { index }),
    ...(subindex === undefined ? {} : { subindex }),
  })

const bcsLocation = ({ package: address, module, function: functionName }: Location) => ({
  ...{ module: { address, name: module }, function: 0, instruction: 0 },
  functionName,
})

function encodeArgumentKind({ error, index = 0, subindex = 0 }: Extract<Failure, { kind: 'CommandArgumentError' }>) {
  switch (error) {
    case 'IndexOutOfBounds':
      return { IndexOutOfBounds: { idx: index } }
    case 'SecondaryIndexOutOfBounds':
      return { SecondaryIndexOutOfBounds: { resultIdx: index, secondaryIdx: subindex } }
    case 'InvalidResultArity':
      return { InvalidResultArity: { resultIdx: index } }
    default:
      return { [error]: true }
  }
}

/** The failure as ExecutionFailureStatus of the effects' BCS. */
export function encodeFailure(failure: Failure): Record<string, unknown> {
  switch (failure.kind) {
    case 'MoveAbort':
      return { MoveAbort: [bcsLocation(failure.location), failure.code] }
    case 'MovePrimitiveRuntimeError':
      return { MovePrimitiveRuntimeError: bcsLocation(failure.location) }
    case 'UnusedValueWithoutDrop':
      return { UnusedValueWithoutDrop: { resultIdx: failure.result, secondaryIdx: failure.subresult } }
    case 'CommandArgumentError':
      return { CommandArgumentError: { argIdx: failure.argument, kind: encodeArgumentKind(failure) } }
    default:
      return { [failure.kind]: true }
  }
}

const describeLocation = (location: Location): string => `${location.package}::${location.module}::${location.function}`

function describe(failure: Failure): string {
  switch (failure.kind) {
    case 'MoveAbort':
      return `Move Runtime Abort. Location: ${describeLocation(failure.location)}, Abort Code: ${failure.code}`
    case 'MovePrimitiveRuntimeError':
      return `Move Primitive Runtime Error. Location: ${describeLocation(failure.location)}. Arithmetic error, stack overflow, max value depth, etc.`
    case 'UnusedValueWithoutDrop':
      return `Unused result without the drop ability. Command result ${failure.result}, return value ${failure.subresult}`
    case 'CommandArgumentError':
      return `Invalid command argument at ${failure.argument}. ${failure.error}`
    default:
      return failure.kind
  }
}

function grpcDetails(failure: Failure): GrpcTypes.ExecutionError['errorDetails'] {
  switch (failure.kind) {
    case 'MoveAbort':
    case 'MovePrimitiveRuntimeError': {
      const { function: functionName, ...location } = failure.location
      const abortCode = failure.kind === 'MoveAbort' ? { abortCode: failure.code } : {}
      return { oneofKind: 'abort', abort: { ...abortCode, location: { ...location, functionName } } }
    }
    case 'UnusedValueWithoutDrop':
      return { oneofKind: 'indexError', indexError: { index: failure.result, subresult: failure.subresult } }
    case 'CommandArgumentError':
      return {
        oneofKind: 'commandArgumentError',
        commandArgumentError: {
          argument: failure.argument,
          kind: argumentKinds[failure.error],
          ...(failure.index === undefined
            ? {}
            : {
                indexError: {
                  index: failure.index,
                  ...(failure.subindex === undefined ? {} : { subresult: failure.subindex }),
                },
              }),
        },
      }
    default:
      return { oneofKind: undefined }
  }
}

function grpcKind(failure: Failure): GrpcTypes.ExecutionError_ExecutionErrorKind {
  switch (failure.kind) {
    case 'MoveAbort':
      return Kind.MOVE_ABORT
    case 'MovePrimitiveRuntimeError':
      return Kind.MOVE_PRIMITIVE_RUNTIME_ERROR
    case 'UnusedValueWithoutDrop':
      return Kind.UNUSED_VALUE_WITHOUT_DROP
    case 'CommandArgumentError':
      return Kind.COMMAND_ARGUMENT_ERROR
    default:
      return simpleKinds[failure.kind]
  }
}

export const renderFailure = (failure: Failure, command: number | null): GrpcTypes.ExecutionError => ({
  description: command === null ? describe(failure) : `${describe(failure)} in command ${command}`,
  ...(command === null ? {} : { command: BigInt(command) }),
  kind: grpcKind(failure),
  errorDetails: grpcDetails(failure),
})
