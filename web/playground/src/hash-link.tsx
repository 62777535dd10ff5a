import { useFocusOnRemoval } from './use-focus-on-removal.ts'

/** A transaction or an address, with its page in the explorer. A reorganisation can take it away. */
export function HashLink({ hash, href }: { hash: string; href: string }) {
  const link = useFocusOnRemoval<HTMLAnchorElement>('progress')
  return (
    <a ref={link} className="hash" href={href} target="_blank" rel="noreferrer">
      {hash}
    </a>
  )
}
