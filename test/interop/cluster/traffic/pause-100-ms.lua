function delay() return 100 end
