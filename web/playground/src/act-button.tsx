import type { MouseEvent, ReactNode } from 'react'

type Props = Readonly<{
  type: 'button' | 'submit'
  className?: string
  isDisabled: boolean
  onPress?(): void
  children: ReactNode
}>

/** A button that keeps the focus while it cannot be pressed: a browser takes the focus from a disabled one. */
export function ActButton({ type, className, isDisabled, onPress, children }: Props) {
  const press = (event: MouseEvent) => {
    // The default action of the button of a form is the submit.
    if (isDisabled) event.preventDefault()
    else onPress?.()
  }
  return (
    <button type={type} className={className} aria-disabled={isDisabled || undefined} onClick={press}>
      {children}
    </button>
  )
}
