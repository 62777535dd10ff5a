import { bcs } from '@mysten/sui/bcs'
import { GrpcTypes } from '@mysten/sui/grpc'
import { maskOfTransaction, readMask } from './field-mask.ts'
import { invalidArgument } from './grpc-error.ts'
import { renderArgument } from './grpc-transaction.ts'
import { type Method, unary } from './grpc-web.ts'
import { parseTransactionBytes, requireField } from './parse-grpc-transaction.ts'
import { renderExecuted, renderOutcome } from './render-messages.ts'
import { resolveTransaction } from './resolve-transaction.ts'
import type { CommandOutput } from './run-commands.ts'
import { simulateTransaction } from './simulate-transaction.ts'
import type { Chain, Signed } from './simulated-chain.ts'

const service = '/sui.rpc.v2.TransactionExecutionService'
const TransactionChecks = GrpcTypes.SimulateTransactionRequest_TransactionChecks

const contextOf = (chain: Chain) => ({
  ...{ view: chain.ledger, functions: chain.functions },
  referenceGasPrice: chain.readState().referenceGasPrice,
})

/** Signed bytes of a request; a transaction in fields is encoded first. */
export function readSigned(chain: Chain, request: GrpcTypes.ExecuteTransactionRequest): Signed {
  const transaction = requireField(request.transaction, 'transaction')
  const data = parseTransactionBytes(transaction) ?? resolveTransaction(transaction, contextOf(chain))
  const bytes = bcs.TransactionData.serialize({ V1: data }).toBytes()
  const signatures = request.signatures.map(({ bcs: signature }, i) => {
    const value = signature?.value
    if (value === undefined) throw invalidArgument(`invalid signature: signatures[${i}] has no bcs`)
    return Uint8Array.from(value)
  })
  return { data, bytes, signatures }
}

const renderOutput = ({ returned, mutated }: CommandOutput): GrpcTypes.CommandResult => ({
  returnValues: returned.map((value) => ({ value: { value } })),
  mutatedByRef: mutated.map(({ argument, contents }) => ({
    argument: renderArgument(argument),
    value: { value: contents },
  })),
})

function simulate(chain: Chain, request: GrpcTypes.SimulateTransactionRequest): GrpcTypes.SimulateTransactionResponse {
  const mask = readMask<GrpcTypes.SimulateTransactionResponse>(
    GrpcTypes.SimulateTransactionResponse,
    request.readMask,
    '*',
  )
  const transaction = requireField(request.transaction, 'transaction')
  const encoded = parseTransactionBytes(transaction)
  const simulation = simulateTransaction(chain, {
    data: encoded ?? resolveTransaction(transaction, contextOf(chain)),
    isBudgetGiven: encoded !== null || transaction.gasPayment?.budget !== undefined,
    selectsGas: request.doGasSelection === true,
    isChecked: request.checks !== TransactionChecks.DISABLED,
  })
  const { outcome } = simulation
  return mask.apply({
    transaction: renderOutcome(outcome, simulation),
    commandOutputs: outcome.outputs.map(renderOutput),
    suggestedGasPrice: chain.readState().referenceGasPrice,
  })
}

export const executionMethods = (chain: Chain): Method[] => [
  unary(
    `${service}/ExecuteTransaction`,
    GrpcTypes.ExecuteTransactionRequest,
    GrpcTypes.ExecuteTransactionResponse,
    async (request) => {
      const mask = maskOfTransaction(request.readMask, 'effects')
      const executed = await chain.submit(readSigned(chain, request))
      return { transaction: mask.apply(renderExecuted(executed)) }
    },
  ),
  unary(
    `${service}/SimulateTransaction`,
    GrpcTypes.SimulateTransactionRequest,
    GrpcTypes.SimulateTransactionResponse,
    (request) => simulate(chain, request),
  ),
]
