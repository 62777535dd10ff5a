import { createContext, Fragment, type ReactNode, useCallback, useContext, useState } from 'react'
import { Dialog } from './dialog.tsx'

type Content = (close: () => void) => ReactNode
type Open = (title: string, content: Content) => void
const OpenDialog = createContext<Open>(() => undefined)

/** Opens a dialog that outlives the row of its button: an action often removes the row. */
export const useDialog = (): Open => useContext(OpenDialog)

export function DialogHost({ children }: Readonly<{ children: ReactNode }>) {
  const [shown, setShown] = useState<Readonly<{ id: number; title: string; content: Content }> | null>(null)
  const [isOpen, setOpen] = useState(false)
  const open = useCallback<Open>((title, content) => {
    setShown((before) => ({ id: (before?.id ?? 0) + 1, title, content }))
    setOpen(true)
  }, [])
  const close = () => setOpen(false)
  return (
    <OpenDialog value={open}>
      {children}
      <Dialog title={shown?.title ?? ''} isOpen={isOpen} onClose={close}>
        {/* Opened while the last one still closes, it would keep that one's state. */}
        <Fragment key={shown?.id}>{shown?.content(close)}</Fragment>
      </Dialog>
    </OpenDialog>
  )
}
