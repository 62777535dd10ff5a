import ipaddr from 'ipaddr.js'

export const isLoopback = (ip: string): boolean => ipaddr.isValid(ip) && ipaddr.process(ip).range() === 'loopback'

/** Whether the address lies in one of the CIDR blocks. An IPv4-mapped IPv6 address is an IPv4 address. */
export function isWithin(ip: string, blocks: readonly string[]): boolean {
  if (!ipaddr.isValid(ip)) return false
  const address = ipaddr.process(ip)
  return blocks.some((block) => {
    const [range, bits] = ipaddr.parseCIDR(block)
    return range.kind() === address.kind() && address.match(range, bits)
  })
}

/** A CIDR block, or the block of one address; null for anything else. */
export function toBlock(text: string): string | null {
  if (ipaddr.isValidCIDR(text)) return text
  if (!ipaddr.isValid(text)) return null
  return `${text}/${ipaddr.parse(text).kind() === 'ipv4' ? 32 : 128}`
}
