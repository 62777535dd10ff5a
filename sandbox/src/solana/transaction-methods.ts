import { isUtf8 } from 'node:buffer'
import type { Address } from '@solana/kit'
import { createAccountEncoder } from './account-form.ts'
import { type Bank, type Block, blockhashAgeMax, commitmentOf } from './bank.ts'
import { type RpcMethod, withContext } from './chain-methods.ts'
import { memoProgram } from './dexes/dex-program.ts'
import type { Execution } from './execution.ts'
import { invalidParams, SolanaRpcError } from './rpc-error.ts'
import {
  type Options,
  readAddress,
  readBlock,
  readCommitment,
  readInteger,
  readOptions,
  readSignature,
  readTransaction,
  requireContextSlot,
} from './rpc-params.ts'
import { describeTransactionError, type TransactionError } from './transaction-error.ts'
import { balances, blockTime, encodeReturned, readTransactionForm, statusOf } from './transaction-form.ts'
import type { WireTransaction } from './wire-transaction.ts'

const signaturesMax = 256
const signaturesForAddressMax = 1000

type Simulation = ReturnType<Bank['simulate']>

const isExecution = (simulation: Simulation): simulation is Execution => 'metadata' in simulation

function describeSimulation(simulation: Simulation, showInner: boolean) {
  if (!isExecution(simulation))
    return {
      err: simulation.error,
      logs: [],
      accounts: null,
      unitsConsumed: 0,
      returnData: null,
      innerInstructions: null,
    }
  return {
    err: simulation.error,
    logs: simulation.metadata.logs,
    accounts: null,
    unitsConsumed: simulation.metadata.unitsConsumed,
    returnData: encodeReturned(simulation),
    innerInstructions: showInner ? simulation.metadata.inner : null,
  }
}

/** The accounts after the simulation, in the order in which they were asked for. */
function encodeAccounts(bank: Bank, block: Block, simulation: Execution, given: unknown) {
  const config = readOptions(given)
  const addresses = config['addresses']
  if (!Array.isArray(addresses)) throw invalidParams('Invalid params: missing field `addresses`.')
  if (addresses.length > simulation.keys.length)
    throw invalidParams(`Too many accounts provided; max ${simulation.keys.length}`)
  const encode = createAccountEncoder({ encoding: 'base64', ...config }, (address) => bank.readAccount(address, block))
  return addresses.map((address) => {
    const key = readAddress(address)
    const index = simulation.keys.indexOf(key as Address)
    const account = simulation.after[index] ?? bank.readAccount(key, block)
    return account.exists ? encode(account) : null
  })
}

function replacesBlockhash(options: Options): boolean {
  const replaces = options['replaceRecentBlockhash'] === true
  if (replaces && options['sigVerify'] === true)
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  return replaces
}

function preflight(bank: Bank, wire: WireTransaction, block: Block): void {
  const simulation = bank.simulate(wire, block, { verifySignatures: true, checkBlockhash: true })
  if (simulation.error === null) return
  if (simulation.error === 'SignatureFailure')
    throw new SolanaRpcError(-32003, 'Transaction signature verification failure')
  const message = `Transaction simulation failed: ${describeTransactionError(simulation.error as TransactionError)}`
  const { ...data } = describeSimulation(simulation, false)
  throw new SolanaRpcError(-32002, message, { ...data, replacementBlockhash: null })
}

const memoPrograms: ReadonlySet<string> = new Set([memoProgram, 'Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'])

function formatMemo(data: Uint8Array): string {
  const isText = isUtf8(data)
  return `[${data.length}] ${isText ? Buffer.from(data).toString('utf8') : '(unparseable)'}`
}

/** The memos of the transaction's own instructions, as a validator lists them. */
function memoOf({ wire, keys }: Execution): string | null {
  const memos = wire.message.instructions
    .filter(({ programAddressIndex }) => memoPrograms.has(keys[programAddressIndex] ?? ''))
    .map(({ data }) => formatMemo(new Uint8Array(data ?? [])))
  return memos.length === 0 ? null : memos.join('; ')
}

export const transactionMethods: Readonly<Record<string, RpcMethod>> = {
  simulateTransaction(bank, [text, given]) {
    const options = readOptions(given)
    const wire = readTransaction(text, options)
    const replaces = replacesBlockhash(options)
    const block = readBlock(bank, options)
    const verifySignatures = options['sigVerify'] === true
    const simulation = bank.simulate(wire, block, { verifySignatures, checkBlockhash: !replaces })
    if (simulation.error === 'SignatureFailure')
      throw new SolanaRpcError(-32003, 'Transaction signature verification failure')
    const details = isExecution(simulation)
      ? {
          ...balances(simulation),
          fee: simulation.fee.base + simulation.fee.priority,
          loadedAddresses: simulation.loaded,
        }
      : {}
    const accounts =
      isExecution(simulation) && options['accounts']
        ? encodeAccounts(bank, block, simulation, options['accounts'])
        : null
    const replacementBlockhash = replaces
      ? { blockhash: block.hash, lastValidBlockHeight: block.height + blockhashAgeMax }
      : null
    return withContext(block, {
      ...describeSimulation(simulation, options['innerInstructions'] === true),
      ...details,
      accounts,
      replacementBlockhash,
    })
  },
  sendTransaction(bank, [text, given]) {
    const options = readOptions(given)
    const wire = readTransaction(text, options)
    if (options['maxRetries'] !== undefined && options['maxRetries'] !== null)
      readInteger(options['maxRetries'], 'usize')
    const commitment = readCommitment(options['preflightCommitment'])
    const block = bank.blockAt(options['skipPreflight'] === true ? 'processed' : commitment)
    requireContextSlot(block, options)
    if (options['skipPreflight'] !== true) preflight(bank, wire, block)
    bank.enqueue(wire)
    return wire.signature
  },
  getSignatureStatuses(bank, [signatures]) {
    if (!Array.isArray(signatures)) throw invalidParams('Invalid params: expected a sequence.')
    if (signatures.length > signaturesMax) throw invalidParams(`Too many inputs provided; max ${signaturesMax}`)
    const tip = bank.blockAt('processed')
    const list = signatures.map(readSignature).map((signature) => {
      const found = bank.find(signature)
      if (!found) return null
      const confirmationStatus = commitmentOf(bank, found.block)
      return {
        slot: found.block.slot,
        confirmations: confirmationStatus === 'finalized' ? null : tip.height - found.block.height,
        err: found.execution.error,
        status: statusOf(found.execution),
        confirmationStatus,
      }
    })
    return withContext(tip, list)
  },
  getTransaction(bank, [signature, given]) {
    const options = readOptions(typeof given === 'string' ? { encoding: given } : given)
    const found = bank.find(readSignature(signature))
    const commitment = readCommitment(options['commitment'])
    if (commitment === 'processed') throw invalidParams('Method does not support commitment below `confirmed`')
    const encode = readTransactionForm(options)
    if (!found || found.block.height > bank.heightOf(commitment)) return null
    return { slot: found.block.slot, blockTime: blockTime(found.block), ...encode(found.execution) }
  },
  getSignaturesForAddress(bank, [address, given]) {
    const key = readAddress(address)
    const options = readOptions(given)
    const { before, until } = options
    const limit = options['limit'] === undefined ? signaturesForAddressMax : readInteger(options['limit'], 'usize')
    if (limit === 0 || limit > signaturesForAddressMax)
      throw invalidParams(`Invalid limit; max ${signaturesForAddressMax}`)
    if (readCommitment(options['commitment']) === 'processed')
      throw invalidParams('Method does not support commitment below `confirmed`')
    const last = readBlock(bank, options)
    const executions = bank
      .blocks()
      .filter((block) => block.height <= last.height)
      .flatMap((block) => block.executions.map((execution) => ({ block, execution })))
      .reverse()
    const signatureOf = (one: (typeof executions)[number]) => one.execution.wire.signature
    const start = before === undefined ? 0 : executions.findIndex((one) => signatureOf(one) === before) + 1
    const end = until === undefined ? -1 : executions.findIndex((one) => signatureOf(one) === until)
    return executions
      .slice(before !== undefined && start === 0 ? executions.length : start, end === -1 ? undefined : end)
      .filter(({ execution }) => execution.keys.includes(key))
      .slice(0, limit)
      .map((one) => ({
        signature: signatureOf(one),
        slot: one.block.slot,
        err: one.execution.error,
        memo: memoOf(one.execution),
        blockTime: blockTime(one.block),
        confirmationStatus: commitmentOf(bank, one.block),
      }))
  },
}
