import type { Block, Execution } from './bank.ts'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import { type Options, toBase58 } from './rpc-params.ts'
import type { WireTransaction } from './wire-transaction.ts'

export const statusOf = ({ error }: Pick<Execution, 'error'>) => (error === null ? { Ok: null } : { Err: error })

export function encodeReturned({ metadata }: Execution) {
  if (metadata.returned === null) return null
  const { program, data } = metadata.returned
  return { programId: program, data: [Buffer.from(data).toString('base64'), 'base64'] }
}

const balancesOf = (accounts: Execution['before']) => accounts.map((one) => (one.exists ? one.lamports : 0n))

export const balances = (execution: Execution) => ({
  preBalances: balancesOf(execution.before),
  postBalances: balancesOf(execution.after),
  preTokenBalances: execution.preTokenBalances,
  postTokenBalances: execution.postTokenBalances,
})

function encodeMeta(execution: Execution) {
  const returnData = encodeReturned(execution)
  return {
    err: execution.error,
    status: statusOf(execution),
    fee: execution.fee.base + execution.fee.priority,
    ...balances(execution),
    innerInstructions: execution.metadata.inner,
    logMessages: execution.metadata.logs,
    loadedAddresses: execution.loaded,
    rewards: [],
    computeUnitsConsumed: execution.metadata.unitsConsumed,
    ...(returnData === null ? {} : { returnData }),
  }
}

/** The form `json`: the compiled message with base58 data. */
function encodeJson({ message, signatures }: WireTransaction) {
  const { header } = message
  return {
    signatures,
    message: {
      header: {
        numRequiredSignatures: header.numSignerAccounts,
        numReadonlySignedAccounts: header.numReadonlySignerAccounts,
        numReadonlyUnsignedAccounts: header.numReadonlyNonSignerAccounts,
      },
      accountKeys: message.staticAccounts,
      recentBlockhash: message.lifetimeToken,
      instructions: message.instructions.map(({ programAddressIndex, accountIndices, data }) => ({
        programIdIndex: programAddressIndex,
        accounts: accountIndices ?? [],
        data: toBase58(new Uint8Array(data ?? [])),
        stackHeight: 1,
      })),
      ...(message.version === 0
        ? {
            addressTableLookups: (message.addressTableLookups ?? []).map((one) => ({
              accountKey: one.lookupTableAddress,
              writableIndexes: one.writableIndexes,
              readonlyIndexes: one.readonlyIndexes,
            })),
          }
        : {}),
    },
  }
}

export function readTransactionForm(options: Options) {
  const encoding = options['encoding'] ?? 'json'
  if (encoding !== 'json' && encoding !== 'base64' && encoding !== 'base58')
    throw invalidParams(
      encoding === 'jsonParsed'
        ? 'Transactions in the encoding jsonParsed are not served by the sandbox.'
        : `Invalid params: unknown variant \`${String(encoding).slice(0, 40)}\`, expected one of \`binary\`, \`base64\`, \`base58\`, \`json\`, \`jsonParsed\`.`,
    )
  const maximum = options['maxSupportedTransactionVersion']
  return (execution: Execution) => {
    const { wire } = execution
    const { version } = wire.message
    if (version !== 'legacy' && (typeof maximum !== 'number' || maximum < version))
      throw new SolanaRpcError(
        -32015,
        `Transaction version (${version}) is not supported by the requesting client. Please try the request again with the following configuration parameter: "maxSupportedTransactionVersion": ${version}`,
      )
    const transaction =
      encoding === 'json'
        ? encodeJson(wire)
        : [encoding === 'base64' ? Buffer.from(wire.bytes).toString('base64') : toBase58(wire.bytes), encoding]
    return {
      transaction,
      meta: encodeMeta(execution),
      ...(maximum === undefined || maximum === null ? {} : { version }),
    }
  }
}

export function blockTime(block: Block): number {
  return Math.floor(block.timeMs / 1000)
}
