// tourwords are the words of the tour, in English and Chinese.

export const texts = {
  en: {
    tour: "Guided tour", choice: "Lesson", other: "中文", close: "Close", back: "Back", next: "Next", act: "Do it", wait: "Wait for it", busy: "Wait …",
    lesson: "Next lesson", finish: "The end: look around", play: "Play", pause: "Pause", again: "Go on", answers: "Answers",
    right: "✓ Right.", wrong: "✗ Wrong.", look: "Compare the numbers: the left number is from the beginning of the lesson.",
    preparing: "The lesson resets the laboratory …", read: "Read:", code: "Code:",
    late: "The expected result has not come for a minute. Somebody else may be using this laboratory, or a part of it is paused. Choose the lesson again: it first resets the laboratory.",
    none: "The tour works on a laboratory: an API server, an informer and workers that the tour may control. This program has no laboratory. Run: kinform lab --open",
    token: "The tour controls the program, so it needs the token that the program has printed. Paste the token above.",
  },
  zh: {
    tour: "导览", choice: "课程", other: "English", close: "关闭", back: "上一步", next: "下一步", act: "执行", wait: "等待", busy: "请稍候……",
    lesson: "下一课", finish: "导览结束：自己看看吧", play: "自动播放", pause: "暂停", again: "继续", answers: "选项",
    right: "✓ 对。", wrong: "✗ 不对。", look: "请看下面的数字：左边是这一课开始时的值。",
    preparing: "正在准备实验环境……", read: "阅读：", code: "代码：",
    late: "等了一分钟，预期的结果还没出现。可能有人也在使用这个实验环境，或者其中某个部分被暂停了。请重新选择这一课：它会先重置实验环境。",
    none: "导览需要一个实验环境：可供操作的 API 服务器、informer 和 worker。这个程序没有实验环境。请运行：kinform lab --open",
    token: "导览要操作这个程序，所以需要程序打印的令牌。请把令牌粘贴到上方。",
  },
};

// labels name the numbers of the boxes. In Chinese, each name is followed by the English one, which
// the boxes show.
export const labels = {
  en: {
    "server.objects": "server: objects", "server.requests": "server: requests", "reflector.synced": "reflector: synced", "reflector.lag": "reflector: versions behind", "reflector.events": "reflector: events",
    "reflector.bookmarks": "bookmarks", "reflector.listed": "objects listed", "reflector.watches": "watches", "reflector.relists": "relists", "reflector.expired": "410 Gone",
    "fifo.keys": "keys on the shelf", "fifo.deltas": "deltas on the shelf", "fifo.queued": "deltas queued", "store.objects": "store: objects", "store.lag": "store: versions behind", "store.added": "store: added",
    "store.updated": "store: updated", "store.deleted": "store: deleted", "handlers.handlers": "handlers", "handlers.synced": "handlers synced", "handlers.waiting": "events in mailboxes",
    "handlers.delivered": "handlers: calls", "queue.ready": "queue: ready", "queue.delayed": "queue: waiting", "queue.dirty": "dirty", "queue.processing": "processing", "queue.merged": "merged adds",
    "workers.done": "turns", "workers.succeeded": "successes", "workers.failures": "failures", "version.server": "server: version",
  },
  zh: {
    "server.objects": "服务器的对象（objects）", "server.requests": "服务器收到的请求（requests）", "reflector.synced": "reflector 已同步（synced）", "reflector.lag": "reflector 落后的版本（versions behind）", "reflector.events": "reflector 的事件（events）",
    "reflector.bookmarks": "收到的 bookmark（bookmarks）", "reflector.listed": "list 返回的对象（objects listed）", "reflector.watches": "watch 次数（watches）", "reflector.relists": "relist 次数（relists）", "reflector.expired": "收到的 410 Gone",
    "fifo.keys": "架子上的 key（keys on the shelf）", "fifo.deltas": "架子上的 delta（deltas）", "fifo.queued": "入队的 delta（deltas queued）", "store.objects": "store 的对象（objects）", "store.lag": "store 落后的版本（versions behind）", "store.added": "store 的新增（added）",
    "store.updated": "store 的更新（updated）", "store.deleted": "store 的删除（deleted）", "handlers.handlers": "处理函数（handlers）", "handlers.synced": "已同步的处理函数（of them synced）", "handlers.waiting": "邮箱中的事件（events in mailboxes）",
    "handlers.delivered": "处理函数的调用（calls）", "queue.ready": "可取走的 key（ready）", "queue.delayed": "延迟中的 key（waiting）", "queue.dirty": "dirty", "queue.processing": "processing", "queue.merged": "合并的加入次数（merged adds）",
    "workers.done": "处理次数（turns）", "workers.succeeded": "成功次数（successes）", "workers.failures": "失败次数（failures）", "version.server": "服务器的版本",
  },
};
