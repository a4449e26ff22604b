// Package tour tests the guided tour, whose lessons are the files lesson-N.json of the page. A
// lesson has these fields:
//
//   - title, docs, code: its title, its headings in docs/how-informers-work.md, and the files to
//     read;
//   - begin: actions and conditions that prepare the laboratory;
//   - steps: captions, each with actions, conditions to wait for, numbers that stay the same, and a
//     caption for the result;
//   - question: a question with answers, the number of the right answer, and why it is right;
//   - end: actions that undo the effects of the lesson.
//
// Each text has two languages, side by side. A step points at a box, and may open a small picture.
// Conditions compare numbers of frames, for example "store.objects == was + 5"; condition.js of the
// page documents them. The page shows the numbers of a step's conditions, and the numbers that must
// stay the same.
//
// The page does not wait for the numbers that must stay the same, because another user of the
// laboratory may change them. The tests check them. Each answer has conditions under which it would
// be true. At the end of the lesson, only the conditions of the right answer are met.
package tour
