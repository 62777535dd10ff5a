import { type RefObject, useLayoutEffect, useRef } from 'react'

/**
 * When the element of this reference is removed with the focus in it, the element with this id gets the focus. Otherwise the
 * page would have no focus, and a screen reader would begin at its start.
 */
export function useFocusOnRemoval<Removed extends HTMLElement>(id: string): RefObject<Removed | null> {
  const removed = useRef<Removed>(null)
  useLayoutEffect(() => {
    const element = removed.current
    return () => {
      if (element?.contains(document.activeElement)) document.getElementById(id)?.focus()
    }
  }, [id])
  return removed
}
