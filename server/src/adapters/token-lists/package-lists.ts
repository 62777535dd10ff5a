import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { ListedToken, TokenLists } from '../../swap/ports/token-lists.ts'

/** Token lists from packages, in the format of tokenlists.org. The first list with a token provides its metadata. */
const files = [
  new URL('build/uniswap-default.tokenlist.json', import.meta.resolve('@uniswap/default-token-list/package.json')),
  new URL('build/sushiswap-default.tokenlist.json', import.meta.resolve('@sushiswap/default-token-list/package.json')),
]

const require = createRequire(import.meta.url)

const ADDRESS = /^0x[0-9a-fA-F]{40}$/
/** Represents native currency, which is not a token. */
const NATIVE = `0x${'0'.repeat(40)}`
const ICON = /^https:\/\/[^\s"'<>\\]{1,500}$/
const IPFS = /^ipfs:\/\/([A-Za-z0-9][A-Za-z0-9./_-]{1,500})$/
const NAME_MAX = 64
const SYMBOL_MAX = 32
const DECIMALS_MAX = 36

/** Reads all lists at the first call. */
export function createPackageLists(): TokenLists {
  let tokensByChain: ReadonlyMap<number, readonly ListedToken[]> | null = null
  return {
    list(chainId) {
      tokensByChain ??= readAll()
      return tokensByChain.get(chainId) ?? []
    },
  }
}

function readAll(): ReadonlyMap<number, readonly ListedToken[]> {
  const chains = new Map<number, Map<string, ListedToken>>()
  const published = files.flatMap((file) => entriesOf(JSON.parse(readFileSync(file, 'utf8'))))
  for (const entry of [...published, ...readLifiTokens()]) {
    const listed = toToken(entry)
    if (listed === null) continue
    const tokens = chains.get(listed.chainId) ?? new Map<string, ListedToken>()
    chains.set(listed.chainId, tokens)
    if (!tokens.has(listed.token.address)) tokens.set(listed.token.address, listed.token)
  }
  return new Map([...chains].map(([chainId, tokens]) => [chainId, [...tokens.values()]]))
}

function entriesOf(list: unknown): readonly unknown[] {
  const tokens: unknown = typeof list === 'object' && list !== null && 'tokens' in list ? list.tokens : null
  return Array.isArray(tokens) ? tokens : []
}

/**
 * LI.FI's default tokens: they cover Sei, Sonic and the stablecoins of Linea. The package is a module instead of a JSON file. A
 * renamed token appears under both names, the newer one last, so the list is reversed.
 */
function readLifiTokens(): readonly unknown[] {
  const { defaultCoins, wrappedTokens }: typeof import('@lifi/data-types') = require('@lifi/data-types')
  const coins = defaultCoins.flatMap(({ chains }) => Object.values(chains))
  return [...Object.values(wrappedTokens), ...coins.reverse()]
}

type Entry = Readonly<Record<'chainId' | 'address' | 'name' | 'symbol' | 'decimals' | 'logoURI', unknown>>

/** Published lists are untrusted: malformed entries are skipped. */
function toToken(entry: unknown): { chainId: number; token: ListedToken } | null {
  if (typeof entry !== 'object' || entry === null) return null
  const { chainId, address, name, symbol, decimals, logoURI } = entry as Partial<Entry>
  if (typeof chainId !== 'number' || typeof address !== 'string' || !ADDRESS.test(address)) return null
  if (address === NATIVE) return null
  if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > DECIMALS_MAX)
    return null
  const [cleanSymbol, cleanName] = [toPlainText(symbol, SYMBOL_MAX), toPlainText(name, NAME_MAX)]
  if (cleanSymbol === null || cleanName === null) return null
  const token = {
    address: address.toLowerCase(),
    name: cleanName,
    symbol: cleanSymbol,
    decimals,
    icon: iconOf(logoURI),
  }
  return { chainId, token }
}

/** Removes unprintable characters and shortens the text. */
function toPlainText(text: unknown, maxLength: number): string | null {
  if (typeof text !== 'string') return null
  const clean = text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, '').trim()
  return clean === '' ? null : [...clean].slice(0, maxLength).join('')
}

function iconOf(uri: unknown): string | null {
  if (typeof uri !== 'string') return null
  if (ICON.test(uri)) return uri
  const [, path] = IPFS.exec(uri) ?? []
  return path === undefined ? null : `https://ipfs.io/ipfs/${path}`
}
