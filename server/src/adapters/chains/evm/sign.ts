import { secp256k1 } from '@noble/curves/secp256k1.js'
import { bytesToHex, type Hex, hexToBytes, keccak256, parseTransaction, serializeTransaction } from 'viem'
import type { FamilySigner } from '../../../exchange/ports/signer.ts'
import { assert } from '../../../lib/assert.ts'
import type { EvmIntent } from '../shared/account-transfer.ts'
import { addressOfKey, parseAddress } from './address.ts'
import { parseTransferCall, transferCall } from './token.ts'

/** Above the gas of any transfer of ours: a higher limit means that the intent is something else. */
const GAS_MAX = 2_000_000n

/**
 * Builds and signs the transaction of the intent, then parses the bytes and compares them with the intent. Deterministic
 * (RFC 6979): signing twice gives the same bytes.
 */
export const signEvm: FamilySigner = (intent, keys) => {
  assert(intent.family === 'evm', 'this signer signs evm transactions')
  checkIntent(intent)
  const key = keys.privateKey(intent.from)
  const own = addressOfKey(secp256k1.getPublicKey(key))
  const unsigned = transactionOf(intent, own)
  const digest = hexToBytes(keccak256(serializeTransaction(unsigned)))
  const signature = secp256k1.sign(digest, key, { prehash: false, format: 'recovered' })
  const [recovery] = signature
  assert(recovery === 0 || recovery === 1, 'the recovery bit is 0 or 1')
  const raw = serializeTransaction(unsigned, {
    r: bytesToHex(signature.subarray(1, 33)),
    s: bytesToHex(signature.subarray(33, 65)),
    yParity: recovery,
    v: BigInt(27 + recovery),
  })
  if (intent.cancels === true) checkCancel(raw, intent, own)
  else checkBytes(raw, intent)
  const signer = secp256k1.recoverPublicKey(signature, digest, { prehash: false })
  assert(addressOfKey(signer) === own, 'the signature belongs to the key')
  return { txHash: keccak256(raw), raw }
}

function checkIntent({ pay, network, chainId, nonce, gasLimit, maxFeePerGas, maxPriorityFeePerGas }: EvmIntent): void {
  assert(Number.isSafeInteger(chainId) && chainId > 0, 'a chain id is positive')
  assert(Number.isSafeInteger(nonce) && nonce >= 0, 'a nonce is not negative')
  assert(pay.units > 0n && pay.memo === null, 'a pay has units and no memo')
  assert(pay.asset.network === network, 'the asset is of the network')
  assert(parseAddress(pay.address) === pay.address, 'the recipient is a canonical address')
  const { contract } = pay.asset
  assert(contract === null || parseAddress(contract) === contract, 'the token contract is a canonical address')
  assert(contract !== pay.address, 'a token is not paid to its own contract')
  assert(gasLimit >= 21_000n && gasLimit <= GAS_MAX, 'the gas limit is that of a transfer')
  assert(maxFeePerGas > 0n && maxPriorityFeePerGas >= 0n, 'fees are positive')
  assert(maxPriorityFeePerGas <= maxFeePerGas, 'the tip is a part of the fee')
}

function transactionOf(intent: EvmIntent, own: string) {
  const { chainId, nonce, gasLimit: gas, maxFeePerGas, maxPriorityFeePerGas } = intent
  const call = callOf(intent, own)
  // Equal fields: the sender pays the full price either way, and every chain accepts the legacy form.
  return maxFeePerGas === maxPriorityFeePerGas
    ? ({ type: 'legacy', chainId, nonce, gas, gasPrice: maxFeePerGas, ...call } as const)
    : ({ type: 'eip1559', chainId, nonce, gas, maxFeePerGas, maxPriorityFeePerGas, ...call } as const)
}

/** A cancel sends zero to its own address (I-38). */
function callOf({ pay, cancels }: EvmIntent, own: string) {
  if (cancels === true) return { to: own as Hex, value: 0n }
  const { contract } = pay.asset
  return contract === null
    ? { to: pay.address as Hex, value: pay.units }
    : { to: contract as Hex, value: 0n, data: transferCall(pay.address, pay.units) }
}

/** Checks that the parsed bytes of a cancel move nothing. */
function checkCancel(raw: Hex, { chainId, nonce, gasLimit, maxFeePerGas }: EvmIntent, own: string): void {
  const parsed = parseTransaction(raw)
  assert(parsed.chainId === chainId && (parsed.nonce ?? 0) === nonce, 'the bytes are for this chain and nonce')
  assert(
    parsed.gas === gasLimit && (parsed.maxFeePerGas ?? parsed.gasPrice) === maxFeePerGas,
    'the bytes hold this fee',
  )
  assert(parsed.to?.toLowerCase() === own.toLowerCase(), 'a cancel goes to its own sender')
  assert((parsed.value ?? 0n) === 0n && (parsed.data ?? '0x') === '0x', 'a cancel moves nothing')
}

/** Compares the parsed bytes with the intent. */
function checkBytes(raw: Hex, { pay, chainId, nonce, gasLimit, maxFeePerGas }: EvmIntent): void {
  const parsed = parseTransaction(raw)
  assert(parsed.chainId === chainId && (parsed.nonce ?? 0) === nonce, 'the bytes are for this chain and nonce')
  assert(
    parsed.gas === gasLimit && (parsed.maxFeePerGas ?? parsed.gasPrice) === maxFeePerGas,
    'the bytes hold this fee',
  )
  const { contract } = pay.asset
  const call = contract === null ? null : parseTransferCall(parsed.data ?? '0x')
  assert(parsed.to?.toLowerCase() === (contract ?? pay.address).toLowerCase(), 'the bytes go to the recipient or token')
  assert((parsed.value ?? 0n) === (contract === null ? pay.units : 0n), 'the bytes move this value')
  assert(contract !== null || (parsed.data ?? '0x') === '0x', 'a native transfer has no calldata')
  assert(contract === null || (call?.to === pay.address && call.units === pay.units), 'the calldata pays the recipient')
}
